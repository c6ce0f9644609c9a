import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsJSON
import PrefsPropertyLists

/// The values of a stream. They are in memory, and a write prints the whole content in its former format.
struct StreamContent {
    /// The store of the values.
    let store: InMemoryStore
    private let word: String
    private let format: FileFormat
    private let bytes: Data
    private let content: [String: StoredValue]

    /// - Parameters:
    ///   - word: `-`, or the path of a pipe.
    ///   - format: the format of empty bytes.
    private init(_ word: String, _ bytes: Data, _ format: FileFormat?) throws(DecodingFailure) {
        let isNew = bytes.isEmpty && format != nil
        let decoded = isNew ? nil : try PropertyListFile.decode(bytes, in: .all)
        (self.format, content) = (decoded?.format ?? format ?? .json, decoded?.content ?? [:])
        (self.word, self.bytes) = (word, bytes)
        store = InMemoryStore(content, form: self.format.form)
    }

    /// Reads a stream to its end.
    ///
    /// - Returns: nil for a target of another kind.
    /// - Throws: `CommandError`; `StorageFailure` if the stream cannot be read.
    static func read(_ target: Target, in program: Program) throws -> StreamContent? {
        guard case .stream(let word, let format) = target else { return nil }
        let bytes = try ExportFile.read(word == "-" ? nil : word.absolutePath, orInput: program.context.input)
        do throws(DecodingFailure) { return try StreamContent(word, bytes, format) } catch {
            throw CommandError("\(target.name)\(error.reason.hasPrefix("is ") ? "" : ":") \(error.reason)")
        }
    }

    var isJSON: Bool { format == .json }

    /// - Throws: `UsageError` if the stream has no output.
    func checkWriting() throws(UsageError) {
        if word != "-" { throw UsageError("\(word) is a pipe; only `-f -` can be written, to the standard output") }
    }

    /// The whole content after a write.
    func output() throws -> Outcome {
        let result = try store.ownRoots.entries().entries ?? [:]
        let isNew = bytes.isEmpty
        do throws(EncodingFailure) {
            let written = try PropertyListCoder.encode(
                .dictionary(result), as: format, replacing: isNew ? nil : .dictionary(content),
                written: isNew ? nil : bytes)
            return Outcome(bytes: written, as: OutputFormat(format))
        } catch {
            throw CommandError("\(error.path): \(error.reason)")
        }
    }
}
