import Foundation
import TestSupport
import Testing

/// A program of the machine that a test compares with, if it is there.
enum Tool: String {
    case setfacl, getfacl
    case python = "python3"

    var isThere: Bool { Hazard.canRun("surroundings: \(rawValue)", if: path != nil, else: "\(rawValue) is missing") }

    private var path: String? { Child.installed(rawValue, in: Child.systemFirstPath) }

    @discardableResult
    func run(_ arguments: [String]) throws -> String {
        guard let path else { throw CocoaError(.fileNoSuchFile) }
        let result = try Child(URL(filePath: path), arguments, environment: [:]).wait()
        if result.code != 0 { Issue.record("\(rawValue): \(result.errors)") }
        return result.output
    }
}
