import Foundation
import PersistentPreferences
import PrefsJSON

/// The program that the tool belongs to.
struct Program {
    /// The words that users type before a command: `prefs`, or `myapp prefs`.
    let name: String
    /// The place of the preferences if the user names no other place; nil if only `make` knows it.
    var target: Target?
    /// Makes a store of a URL; nil if the program has no such stores.
    var storeOfURL: ((String) throws(PrefsError) -> any PrefsStore)?
    /// All commands, in the order of the help.
    var commands = CommandSpec.all
    /// Makes the preferences under a root key in a store; nil stands for the program's own key or store.
    let make: (_ root: String?, _ store: (any PrefsStore)?) -> PersistentPrefs
    var context = ProcessContext.process

    /// Preferences of the class that read and write no file.
    var sample: PersistentPrefs { make(nil, InMemoryStore()) }

    /// The preferences in the program's own store, with its layers.
    var own: PersistentPrefs { make(nil, nil) }

    /// The physical path of the program's own file; empty if it has none.
    var ownFiles: Set<String> {
        let path = if let target { try? target.path() } else { own.fileURL?.absoluteURL.path(percentEncoded: false) }
        return Set([path].compactMap { $0.flatMap { try? SidecarPaths(path: $0).file } })
    }

    /// The preferences in the program's own file; nil for another place. Its store may differ from the store of the
    /// place.
    func ownPrefs(in place: Target) throws -> PersistentPrefs? {
        guard target == nil, let path = try place.path() else { return nil }
        let own = own
        func physical(_ path: String) -> String { (try? SidecarPaths(path: path).file) ?? path }
        guard let file = own.fileURL?.absoluteURL.path(percentEncoded: false) else { return nil }
        return physical(file) == physical(path) ? own : nil
    }

    /// Whether the program's own file has a flat layout.
    var hasFlatLayout: Bool { target == nil && own.hasFlatLayout }

    func hasCommand(_ name: String) -> Bool { commands.contains { $0.name == name } }

    /// The options of its commands, in the order of the help.
    var options: [OptionSpec] {
        // A program adds its layers in `make`, and has its own `--version`.
        var taken: Set<String> =
            target == nil ? [OptionSpec.layers.name, OptionSpec.layer.name, OptionSpec.version.name] : []
        return (commands.flatMap(\.options) + [.json, .help, .version]).filter { taken.insert($0.name).inserted }
    }
}
