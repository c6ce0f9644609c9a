import Foundation
import PersistentPreferences

/// The program that the tool belongs to.
struct Program {
    /// What users type before a command: `prefs`, or `myapp prefs`.
    let name: String
    /// Where the preferences are if the user names no other place; nil if only `make` knows.
    var target: Target?
    /// Makes a store of the URL that the user gives with `--store`; nil if there is no such option.
    var storeOfURL: ((String) throws(PrefsError) -> any PrefsStore)?
    /// All commands, in the order of the help.
    let commands: [CommandSpec]
    /// Makes the preferences under a root key in a store; nil stands for the program's own.
    let make: (_ root: String?, _ store: (any PrefsStore)?) -> PersistentPrefs
    var context = ProcessContext.process

    /// Preferences of the class that read and write no file.
    var sample: PersistentPrefs { make(nil, InMemoryStore()) }

    /// The preferences in a domain. Those in the program's own file are made as the program does, since its store may differ.
    func prefs(in domain: Target) -> PersistentPrefs {
        guard target == nil, let path = try? domain.path() else { return make(nil, domain.store) }
        let own = make(nil, nil)
        return own.fileURL?.absoluteURL.path(percentEncoded: false) == path ? own : make(nil, domain.store)
    }

    func hasCommand(_ name: String) -> Bool { commands.contains { $0.name == name } }

    /// The options of its commands, in the order of the help.
    var options: [OptionSpec] {
        OptionSpec.all.filter { option in
            // A program with layers of its own has them in `make`.
            if [OptionSpec.layers.name, OptionSpec.layer.name].contains(option.name) { return target != nil }
            if option.name == OptionSpec.store.name { return storeOfURL != nil }
            return option.name == OptionSpec.version.name || commands.contains { $0.accepts(option) }
        }
    }
}
