import PersistentPreferences

extension Group {
    static let observing = Group(
        name: "observing", title: "commits in memory while others observe the root",
        rows: [
            Row("write-unobserved", "one key of 100, nobody observes") { _ in
                try writes(observers: 0)
            },
            // The observers are not called, so the count does not depend on when their threads run.
            Row("write-observed", "the same, 10 observers of another key", .times("write-unobserved")) { _ in
                try writes(observers: 10)
            },
            Row("update-1000", "all keys of 1,000, nobody observes") { _ in
                try updates(observers: 0)
            },
            Row("update-1000-observed", "the same, 100 observers of all keys", .times("update-1000")) { _ in
                try updates(observers: 100)
            },
        ])

    private static func writes(observers count: Int) throws -> Operation {
        let prefs = try HundredPrefs.full(in: PrefsStore.memory())
        let observations = try (0..<count).map { _ in try observation(of: prefs, keys: [ManyKeys.hundred[7]]) }
        return .each(verify: prefs.check) { number in
            withExtendedLifetime(observations) { prefs[ManyKeys.hundred[0]] = number + 1 }
        }
    }

    private static func updates(observers count: Int) throws -> Operation {
        let prefs = try ThousandPrefs.full(in: PrefsStore.memory())
        let observations = try (0..<count).map { _ in try observation(of: prefs, keys: []) }
        return .each { number in
            let result = prefs.update { values in
                for key in ManyKeys.thousand { values[key] = number + 1 }
            }
            withExtendedLifetime(observations) {}
            try result.get()
        }
    }

    private static func observation(of prefs: PersistentPrefs, keys: [String]) throws -> PrefsObservation {
        let observation = prefs.onChange(of: keys) { _ in }
        try prefs.check()
        return observation
    }
}
