import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsJSON

/// A file with the roots that a process has followed, for the next one that starts while the cluster is down: one JSON dictionary, with the
/// JSON of each root under its name. A new file has mode 0600, because the values may be secrets.
final class LastKnownFile: Sendable {
    private struct State {
        /// nil until the file is read.
        var roots: [String: Data]?
        /// nil if the roots are not in the file yet.
        var written: [String: Data]?
    }

    private let url: URL
    private let state = Guarded(State())

    init(_ url: URL) {
        self.url = url
    }

    /// The root in the file; nil if it is missing, or the file cannot be read.
    func values(of root: String) -> RootValues? {
        state.withLock { state in
            read(&state)
            return state.roots?[root].flatMap { try? ExportFormat.values(of: $0) }
        }
    }

    /// Replaces the file if the roots have changed. A failure is no error of an access: the next time may succeed.
    ///
    /// - Parameters:
    ///   - roots: their JSON; nil for a missing root. Others stay.
    ///   - names: the names of all roots; nil if they are not known.
    func save(_ roots: [String: Data?], of names: Set<String>?) {
        state.withLock { state in
            read(&state)
            var all = (state.roots ?? [:]).filter { names?.contains($0.key) != false }
            for (root, json) in roots { all[root] = json }
            state.roots = all
            if all == state.written { return }
            let members = all.sorted { $0.key < $1.key }.compactMap { root, json -> Data? in
                guard let name = try? JSONEncoder().encode(root) else { return nil }
                return name + Data(": ".utf8) + json
            }
            let whole = Data("{\n".utf8) + Data(members.joined(separator: Data(",\n".utf8))) + Data("\n}\n".utf8)
            let path = url.absoluteURL.path(percentEncoded: false)
            if (try? SystemCalls.real.replaceFile(at: path, with: whole)) != nil { state.written = all }
        }
    }

    private func read(_ state: inout State) {
        guard state.roots == nil else { return }
        let data = (try? Data(contentsOf: url)) ?? Data()
        let all = (try? ExportFormat.dictionary(from: data)) ?? [:]
        state.roots = all.compactMapValues { root in
            (root as? [String: Any]).flatMap { try? ExportFormat.json.data(of: $0) }
        }
        state.written = state.roots
    }
}
