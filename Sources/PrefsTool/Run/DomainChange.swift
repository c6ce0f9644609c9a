import Foundation
import PersistentPreferences

/// Changes of a domain: rehearsed, shown or confirmed, and then made in one transaction.
extension DomainRunner {
    typealias Edit = (_ entries: inout [String: StoredValue], _ risks: inout Risks) throws -> Void

    /// Makes a change, all or nothing. A dry run prints what it would change.
    func change(_ edit: Edit) throws -> Outcome {
        let (entries, failure) = try domain.entries()
        let before = entries ?? [:]
        var (after, risks) = try Self.result(of: edit, on: before)
        after = try Roots.changed(before, to: after)
        var (domain, isForeign) = (domain, false)
        switch failure {
        case .notOurs(let file)?:
            isForeign = true
            risks.add(Self.risk(of: file))
        case .damaged(let file)? where !confirmation.isForced && !invocation.isDryRun:
            throw CommandError(damaged: file)
        default: break
        }
        if invocation.isDryRun {
            if isForeign, !confirmation.isForced, let failure { throw failure }
            return difference(from: before, to: after).reporting(isForeign ? nil : failure, asJSON: wantsJSON)
        }
        try confirmation.require(risks)
        if isForeign { domain = try target.domain(isForced: true) }
        return try Self.outcome(asJSON: wantsJSON) {
            try domain.updateEntries { entries in
                let (after, found) = try Self.result(of: edit, on: entries)
                // Another process may have written since.
                guard confirmation.isForced || risks.contains(found) else {
                    throw CommandError("\(found.texts.joined(separator: "; ")); --force does it; nothing has changed")
                }
                entries = after
            }
        }
    }

    private static func result(
        of edit: Edit, on before: [String: StoredValue]
    ) throws -> ([String: StoredValue], Risks) {
        var (after, risks) = (before, Risks())
        try edit(&after, &risks)
        for text in Risks(from: before, to: after).texts { risks.add(text) }
        return (after, risks)
    }

    private func difference(from before: [String: StoredValue], to after: [String: StoredValue]) -> Outcome {
        func values(_ entries: [String: StoredValue], _ root: String) -> [String: StoredValue] {
            entries[root]?.dictionary ?? [:]
        }
        let difference =
            invocation.root.map { root in
                Difference(from: values(before, root), to: values(after, root), nested: false, hiding: nil)
            } ?? Difference(from: before, to: after, nested: true, hiding: nil)
        return difference.outcome(asJSON: wantsJSON, in: program.context)
    }

    static func risk(of file: MalformedFile) -> String {
        let line = CommandError.line(of: file).map { " in the line `\($0)`" } ?? ""
        return "\(file.place)\(line); this package did not write the file, and would quarantine it"
    }

    /// The outcome of a write. What was stored is a success, with a warning.
    static func outcome(asJSON wantsJSON: Bool, _ write: () throws -> PrefsError?) throws -> Outcome {
        var warning: PrefsError?
        do {
            warning = try write()
        } catch let error as PrefsError where error.wasStored {
            warning = error
        }
        var outcome = Outcome().reporting(warning, asJSON: wantsJSON)
        outcome.code = 0
        return outcome
    }
}

extension Difference {
    func outcome(asJSON wantsJSON: Bool, in context: ProcessContext) -> Outcome {
        wantsJSON ? Outcome(output: json, as: .json) : Outcome(output: text(context.outputStyle))
    }
}
