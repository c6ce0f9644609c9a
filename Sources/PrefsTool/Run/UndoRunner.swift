import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// Reverts the last write of the tool to a file.
struct UndoRunner {
    let target: Target
    let folder: UndoFolder
    let isDryRun: Bool
    let secrets: Secrets
    let wantsJSON: Bool
    let context: ProcessContext

    func run() throws -> Outcome {
        guard let named = try target.path() else {
            throw CommandError("undo is not available for the \(target.name): a system daemon stores it")
        }
        let path = try SidecarPaths(path: named).file
        guard let replacement = try folder.replacement(of: path) else {
            throw CommandError("nothing to undo: this tool has not written \(path)")
        }
        if isDryRun { return try difference(replacement) }
        let domain = try target.domain(isForced: true)
        return try DomainRunner.outcome(asJSON: wantsJSON) { try domain.restore(replacement) }
    }

    private func difference(_ replacement: FileReplacement) throws -> Outcome {
        let bytes = FileMetadata(replacement.path) == nil ? nil : try ExportFile.read(replacement.path)
        guard bytes == replacement.after else {
            throw CommandError("\(replacement.path): has changed since that write")
        }
        return Difference(
            from: entries(replacement.after), to: entries(replacement.before), nested: true, hiding: secrets
        )
        .outcome(asJSON: wantsJSON, in: context)
    }

    private func entries(_ bytes: Data?) -> [String: StoredValue] {
        let content = bytes.flatMap { try? PropertyListFile.decode($0, json: target.isJSON ? .file : nil).content }
        return content ?? [:]
    }
}
