import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsJSON
import PrefsPropertyLists

/// Makes changes: rehearses them, shows or confirms them, and then makes them in one transaction.
extension Place {
    typealias Edit = (_ values: inout [String: StoredValue], _ risks: inout Risks) throws -> Void

    /// Makes a change, all or nothing. A dry run prints what it would change, and fails if that needs `--force`. A change
    /// that is rejected, or that changes nothing where nothing is stored, takes no lock and leaves no trace.
    func change(_ invocation: Invocation, _ edit: @escaping Edit) throws -> Outcome {
        try prepared(invocation, edit)()
    }

    /// Rehearses a change and asks the questions about it.
    ///
    /// - Returns: the second half, which makes the change.
    func prepared(_ invocation: Invocation, _ edit: @escaping Edit) throws -> () throws -> Outcome {
        let wantsJSON = invocation.wantsJSON
        try stream?.checkWriting()
        let (found, failure) = try known()
        let before = found ?? [:]
        var (after, risks): ([String: StoredValue], Risks)
        do { (after, risks) = try result(of: edit, on: before) } catch {
            // Of a file that cannot be read, nothing is known to change.
            if found == nil, let failure { throw failure }
            throw error
        }
        try rehearse(from: before, to: after)
        if case .notOurs(let file)? = failure { risks.add(risk(of: file)) }
        let isEmpty = failure == nil && before.isEmpty && after.isEmpty
        if !isEmpty {
            try target?.checkCreation()
            if let risk = riskOfNewDomain(invocation) { risks.add(risk) }
        }
        if invocation.isDryRun {
            if case .notOurs? = failure, let failure, !invocation.isForced { throw failure }
            let difference = Difference(from: before, to: after, hiding: secrets).outcome(invocation)
            if invocation.isForced { return { difference } }
            let refusals = risks.texts.map { "\($0); --force does it" }
            return { difference.reporting(failure, asJSON: wantsJSON).reporting(refusals, asJSON: wantsJSON) }
        }
        if case .damaged(let file)? = failure, !file.isEmptied, !invocation.isForced {
            throw CommandError(damaged: file, showsLine: secrets.isEmpty)
        }
        try invocation.confirm(risks)
        if isEmpty, stream == nil { return { Outcome() } }
        return { try write(edit, risks, replacing: failure, invocation) }
    }

    private func write(
        _ edit: Edit, _ risks: Risks, replacing failure: PrefsError?, _ invocation: Invocation
    ) throws -> Outcome {
        let outcome = try withExtendedLifetime(try opened(toReplace: failure)) {
            try Outcome.written(asJSON: invocation.wantsJSON) {
                try update { values in
                    let (after, found) = try result(of: edit, on: values)
                    // Another process may have written in the meantime.
                    guard invocation.isForced || risks.contains(found) else {
                        throw CommandError(
                            "\(found.texts.joined(separator: "; ")); --force does it; nothing has changed")
                    }
                    values = after
                }
            }
        }
        return try stream?.output() ?? outcome
    }

    /// A word that names neither a file nor a domain may be the mistyped name of a file.
    private func riskOfNewDomain(_ invocation: Invocation) -> String? {
        guard invocation.place != nil, let suite = target?.suite, let file, FileMetadata(file) == nil else {
            return nil
        }
        return "there is no file and no UserDefaults domain `\(ShownText.key(suite))`; \(file) would be created "
            + "(--format json, xml or binary creates a file of that name)"
    }

    /// The known values. For a malformed file that will be replaced, returns them even if nothing is known.
    private func known() throws -> (values: [String: StoredValue]?, failure: PrefsError?) {
        do { return try read() } catch let error as PrefsError {
            switch error {
            case .damaged, .notOurs: return (nil, error)
            default: throw error
            }
        }
    }

    private func result(
        of edit: Edit, on before: [String: StoredValue]
    ) throws -> (values: [String: StoredValue], Risks) {
        var (after, risks) = (before, Risks())
        try edit(&after, &risks)
        let change = DictionaryDifference(from: before, to: after)
        for (key, value) in change.new where value.isHidden && change.old[key]?.isHidden != true {
            throw CommandError("`\(ShownText.key(key))`: dots stand for a hidden value and cannot be stored")
        }
        if prefs == nil { risks.addReplaced(change, nil, in: before) }
        if keepsNulls {
            for (key, value) in change.new { after[key] = value.keepingEqual(to: before[key]) }
        }
        return (after, risks)
    }

    /// Throws the error that would reject the change.
    func rehearse(from before: [String: StoredValue], to after: [String: StoredValue]) throws {
        guard let prefs else {
            try Roots.check(before, to: after, isRoot: root != nil, isJSON: keepsNulls)
            return
        }
        let copy = program.make(prefs.key, PrefsStore.memory())
        // A value that does not fit cannot be stored in the copy. The write of the file checks it.
        let isFit = { (key: String) in before[key].map { prefs.mismatch(of: $0, forKey: key) == nil } ?? true }
        let fit = before.filter { isFit($0.key) }
        copy.values = fit.objects
        // The class may accept its values only together with values that the copy lacks.
        if let error = copy.lastError, !error.wasStored { return }
        if let error = Self.store(after.filter { isFit($0.key) }, over: fit, in: copy), !error.wasStored {
            // A rule may hold with the values of layers, which the copy lacks. The write asks it.
            if case .ruleViolated = error, prefs.state.roots.layers != nil { return }
            throw CommandError(explain(error))
        }
    }

    private static func store(
        _ after: [String: StoredValue], over before: [String: StoredValue], in prefs: PersistentPrefs
    ) -> PrefsError? {
        if after.isEmpty {
            // Also removes the root.
            return prefs.resetAll()
        }
        let change = DictionaryDifference(from: before, to: after)
        for key in change.keys where after[key]?.isNull == true {
            if let error = prefs.assignNil(forKey: key), !error.wasStored { return error }
        }
        let result = prefs.update { values in
            for key in change.keys where after[key]?.isNull != true {
                values[key] = after[key].flatMap { prefs.storedChange(of: key, from: before[key], to: $0) }?.object
            }
        }
        return if case .failure(let error) = result { error } else { nil }
    }

    /// A malformed file, opened so that writes replace it while the result exists; nil for another failure.
    private func opened(toReplace failure: PrefsError?) throws -> Roots? {
        switch failure {
        case .damaged?, .notOurs?: break
        default: return nil
        }
        guard let target = target ?? file.map({ Target.file($0) }) else { return nil }
        let domain = try target.domain(isForced: true)
        _ = try domain.entries()
        return domain
    }

    /// Changes values in one transaction.
    ///
    /// - Returns: the warning of the write, if any.
    /// - Throws: what the body throws, or why nothing was stored.
    func update(_ body: (inout [String: StoredValue]) throws -> Void) throws -> PrefsError? {
        guard let prefs else { return try entries?.updateEntries(of: root, body) }
        let result = try prefs.update { () throws in
            let before = prefs.currentValues
            var after = before
            try body(&after)
            if let error = Self.store(after, over: before, in: prefs), !error.wasStored { throw error }
        }
        let failure = if case .failure(let error) = result { error } else { prefs.lastError }
        if let failure, !failure.wasStored { throw CommandError(explain(failure)) }
        return failure
    }

    /// - Parameter targets: the places that get the values.
    /// - Throws: `CommandError` if the removal of one element moves another place, because both are in one array.
    static func checkRemoval(of paths: [ValuePath], movedTo targets: [ValuePath] = []) throws(CommandError) {
        for (number, path) in paths.enumerated() {
            guard path.steps.last?.isIndex == true, let array = path.parent else { continue }
            let others = paths.enumerated().filter { $0.offset != number && $0.element.isInside(array) }.map(\.element)
            let name = "`\(ShownText.key(path.text))`"
            if others.contains(path) { throw CommandError("\(name) is named twice; name it once") }
            // An element that the array gets has its index after the removal.
            let target = targets.first { $0.isInside(array) && $0.steps.count > path.steps.count }
            guard let moved = others.first ?? target else { continue }
            throw CommandError(
                "\(name) and `\(ShownText.key(moved.text))` are in one array, and the removal of the first moves the other; "
                    + "remove the first in a command of its own")
        }
    }

    private func risk(of file: MalformedFile) -> String {
        // The line may contain a secret.
        let line = (secrets.isEmpty ? CommandError.line(of: file) : nil).map { " in the line `\($0)`" } ?? ""
        let name = ShownText.line("\(FileNames(path: file.path).file).corrupt-DATE-PID")
        return
            "\(file.place)\(line); the file may belong to another program; it would become \(name), and only this change be stored"
    }
}

extension StoredValue {
    /// Whether the value contains the dots that stand for a sensitive value.
    fileprivate var isHidden: Bool {
        switch self {
        case .string(let text): text == ShownText.hidden
        case .array(let elements): elements.contains(where: \.isHidden)
        case .dictionary(let members): members.values.contains(where: \.isHidden)
        default: false
        }
    }
}
