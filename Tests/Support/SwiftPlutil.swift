package import Foundation

/// The `plutil` of Foundation: the one beside the Swift compiler, or that of the system on a Mac.
///
/// Another program of that name may be on the PATH. That of GNUstep (Debian's `gnustep-base-runtime`) has other options.
package enum SwiftPlutil {
    /// nil if the toolchain has none.
    package static let program: URL? = {
        #if canImport(Darwin)
            let files = [URL(filePath: "/usr/bin/plutil")]
        #else
            let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
            let files = path.split(separator: ":").map { folder in
                URL(filePath: "\(folder)/swiftc").resolvingSymlinksInPath().deletingLastPathComponent()
            }.filter { FileManager.default.isExecutableFile(atPath: $0.appending(path: "swiftc").path) }
                .map { $0.appending(path: "plutil", directoryHint: .notDirectory) }
        #endif
        return files.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }()

    /// Whether the program is there. If not, the summary names the skipped tests and the program that they need.
    package static func isThere(for tests: String) -> Bool {
        Hazard.canRun(
            "\(tests): plutil", if: program != nil, else: "they need the plutil of the Swift toolchain, beside swiftc")
    }
}
