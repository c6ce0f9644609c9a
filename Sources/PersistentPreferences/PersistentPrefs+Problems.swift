import PrefsFileEngine
import PrefsPropertyLists

extension PersistentPrefs {
    /// Returns everything that is wrong now with what this instance reads. The result is empty if there are no problems.
    ///
    /// ```swift
    /// for problem in prefs.problems() { print(problem) }  // size: expected Int, found a string
    /// ```
    ///
    /// Problems of the file and of layers come first, with variables and arguments that no key has or that are ignored.
    /// Then follow rules that are violated and, sorted by path, values that do not fit, required values that are missing,
    /// keys that are not keys of the class, and the version. If the root cannot be read, the store has no other problem.
    ///
    /// In a file that people write, every key that the class does not allow is a problem, also in the file of a layer,
    /// unless another class of this process has it in the same root. So is an older or missing version if a write would
    /// migrate the file. In other formats, only a key that resembles a key of the class is one, because other versions
    /// and other code have keys, too. A root that a newer version of the class has written is a problem in each format.
    /// So is a root that another class uses by mistake. The tool's `doctor` reports the same problems.
    ///
    /// Costs a read and the decoding of all values. While another program is saving the file, waits for the end of that,
    /// a second at most. Does not change ``lastError``. Any thread.
    public func problems() -> [PrefsProblem] { problems(waits: true) }

    /// - Parameter waits: whether to wait while another program is saving the file. If not, an access has read its last
    ///   known state.
    func problems(waits: Bool) -> [PrefsProblem] {
        var outcome = AccessOutcome()
        var ofLayers: [PrefsProblem] = []
        var ofValues: [PrefsProblem] = []
        do {
            let root = try Root(key, of: state)
            if waits, let warning = root.roots.domain?.waitForSave() { outcome.note(PrefsError(warning)) }
            let view = try root.view(&outcome)
            // A state in place of a damaged file does not show what the file lacks.
            let isWhole = outcome.noted.allSatisfy(\.isOfLayers)
            let names = KnownNames(of: self, in: root)
            ofLayers =
                view.layers?.notes(forKeys: allowed.list, of: root.key, in: declarations, names.flaw(of:as:)) ?? []
            let values = try view.values(&outcome)
            if let conflict = SharedRoots.conflict(of: type(of: self), declarations, root: root.key, in: root.roots) {
                outcome.note(conflict)
            }
            let stored = try view.storedValues() ?? [:]
            ofValues = stored.flatMap { key, value in problems(of: value, key, in: view, names) }
            if isWhole {
                ofValues += view.violatedRules.map { .init(.rule, reason: $0.text) } + missing(in: values, view)
            }
            ofValues = (ofValues + problemOfVersion(view)).sorted(byText: \.path)
        } catch {
            outcome.note(PrefsError(error))
        }
        if let failure = state.roots.domain?.watchFailure { outcome.note(.notWatched(failure)) }
        var seen: Set<PrefsProblem> = []
        return (outcome.noted.flatMap(\.problems) + ofLayers + ofValues).filter { seen.insert($0).inserted }
    }

    /// What a write would change, because the version is older or missing, in a file that people write. Or that a newer
    /// version of the class has written the root.
    private func problemOfVersion(_ root: RootView) -> [PrefsProblem] {
        let schema = declarations.schema
        guard let stored = try? root.dictionary() else { return [] }
        var reason = schema.newerVersion(of: stored)
        if reason == nil, root.form != .exact, let current = try? root.storedValues() {
            reason = schema.flawOfVersion(stored, current: current)
        }
        return reason.map {
            [PrefsProblem(.version, path: schema.versionKey, topLevelKey: schema.versionKey, reason: $0)]
        } ?? []
    }

    private func problems(
        of value: StoredValue, _ key: String, in view: RootView, _ names: KnownNames
    ) -> [PrefsProblem] {
        if let property = declarations[key]?.property {
            return property.error(of: value, forKey: key, as: view.form)?.problems ?? []
        }
        return names.flaw(of: key, as: view.form).map {
            [PrefsProblem(.unknownKey, path: key, topLevelKey: key, reason: $0)]
        } ?? []
    }

    /// The required keys without a value. A value that does not fit is not missing: it is a problem of its own.
    private func missing(in values: [String: StoredValue]?, _ view: RootView) -> [PrefsProblem] {
        declarations.declarations.filter(\.property.isRequired).compactMap { declaration in
            let (key, layers) = (declaration.key, view.layers)
            guard (values?[key] ?? declaration.property.storedDefault)?.present() == nil,
                view.around(key)?.hasFaults != true
            else { return nil }
            let reason = "is required, and has no value\(layers?.howToSet(key, in: declarations) ?? "")"
            return PrefsProblem(.missing, path: key, topLevelKey: key, reason: reason)
        }
    }
}

/// The keys of a class and of the other classes in its root, prepared for any number of unknown keys.
private struct KnownNames {
    private let prefs: PersistentPrefs
    private let allowed: AllowedKeys
    private let ownKeys: [String]
    private let words: NearestWord
    private let sharing: [ClassDeclarations]

    init(of prefs: PersistentPrefs, in root: Root) {
        self.prefs = prefs
        allowed = prefs.allowed
        ownKeys = prefs.declarations.schema.ownKeys
        words = NearestWord(among: allowed.list)
        sharing = SharedRoots.declarations(of: root.key, in: root.roots)
    }

    /// Why a key is not a key of the class; nil if nothing has to be said of it.
    ///
    /// - Parameter form: the form of the values of its file.
    func flaw(of key: String, as form: ValueForm) -> String? {
        if allowed.contains(key) || ownKeys.contains(key) || form.isKeyOfTools(key) { return nil }
        let near = words.nearest(to: key)
        guard near != nil || form != .exact else { return nil }
        if sharing.contains(where: { $0.allowed.contains(key) || $0.schema.ownKeys.contains(key) }) { return nil }
        return "is not a key of \(prefs.className)" + (near.map { "; did you mean \"\(ShownText.key($0))\"?" } ?? "")
    }
}
