import PersistentPreferences
import PrefsPropertyLists

/// Merges what a person has changed with what another process has stored in the meantime.
struct ValueMerge {
    /// A value that both have changed.
    struct Conflict {
        let path: ValuePath
        let mine: StoredValue?
        let theirs: StoredValue?
    }

    /// The conflicts without an answer.
    struct Unresolved: Error {
        let conflicts: [Conflict]
    }

    /// The answers of the person: whether a value of theirs is replaced.
    struct Answers {
        private var answers: [ValuePath: (theirs: StoredValue?, replaces: Bool)] = [:]

        mutating func add(_ conflict: Conflict, replaces: Bool) {
            answers[conflict.path] = (conflict.theirs, replaces)
        }

        /// nil if nobody was asked about this value.
        func replaces(_ theirs: StoredValue?, at path: ValuePath) -> Bool? {
            answers[path].flatMap { $0.theirs == theirs ? $0.replaces : nil }
        }
    }

    /// Whether containers are merged in parts. A declared value is one whole.
    private let isDeep: Bool
    private let answer: (Conflict) -> Bool?
    private var conflicts: [Conflict] = []

    /// The values of another process, with the changes of the person.
    ///
    /// - Parameters:
    ///   - base: the values that the person saw.
    ///   - answer: whether the person's value replaces the other one; nil if nobody knows.
    /// - Throws: `Unresolved`.
    static func values(
        _ base: [String: StoredValue], to mine: [String: StoredValue], over theirs: [String: StoredValue],
        isDeep: Bool, answer: @escaping (Conflict) -> Bool?
    ) throws(Unresolved) -> [String: StoredValue] {
        var merge = ValueMerge(isDeep: isDeep, answer: answer)
        let values = merge.members(base, mine, theirs) { ValuePath($0) }
        if merge.conflicts.isEmpty { return values }
        throw Unresolved(conflicts: merge.conflicts)
    }

    private init(isDeep: Bool, answer: @escaping (Conflict) -> Bool?) {
        (self.isDeep, self.answer) = (isDeep, answer)
    }

    private mutating func members(
        _ base: [String: StoredValue], _ mine: [String: StoredValue], _ theirs: [String: StoredValue],
        path: (String) -> ValuePath
    ) -> [String: StoredValue] {
        var result = theirs
        for key in base.merging(mine, uniquingKeysWith: { $1 }).sortedByBytes.map(\.key) where base[key] != mine[key] {
            result[key] = value(base[key], mine[key], theirs[key], at: path(key))
        }
        return result
    }

    private mutating func value(
        _ base: StoredValue?, _ mine: StoredValue?, _ theirs: StoredValue?, at path: ValuePath
    ) -> StoredValue? {
        if mine == base || mine == theirs { return theirs }
        switch (base, mine, theirs) {
        case (.dictionary(let base)?, .dictionary(let mine)?, .dictionary(let theirs)?) where isDeep:
            return .dictionary(members(base, mine, theirs) { path.appending(.key($0)) })
        case (.array(let base)?, .array(let mine)?, .array(let theirs)?)
        where isDeep && base.count == mine.count && base.count == theirs.count:
            return .array(
                base.indices.compactMap { value(base[$0], mine[$0], theirs[$0], at: path.appending(.index($0))) })
        default: break
        }
        if theirs == base { return mine }
        let conflict = Conflict(path: path, mine: mine, theirs: theirs)
        guard let replaces = answer(conflict) else {
            conflicts.append(conflict)
            return theirs
        }
        return replaces ? mine : theirs
    }
}
