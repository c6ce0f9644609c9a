import Foundation
import PersistentPreferences
import PrefsJSON
import TestSupport

/// The settings that other programs save. Every state of the file has the first two keys, and `own` belongs to the
/// program.
private final class SavedPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var round = -1
    @Pref var person = "default"
    @Pref var own = 0
    @Pref var filler = [String]()
}

/// A program that uses a file through the package while other programs save it, and judges all that it gets.
///
/// It reads the file, says "ready", and then accepts commands:
/// - `read` reads once. The answer is the round, the person's value, the milliseconds that it took, and the error.
/// - `write N` assigns `own`. The answer is the last error.
/// - `pause` waits until the writer has stored a value that it began to assign after this command, and stops it. The answer is the
///   last value that it has stored. `go` continues it.
/// - `hear N` waits until an observer has heard of a round. The answer is the last round that it has heard of.
/// - `tally` answers with a `SaveTally`.
final class Bystander: @unchecked Sendable {
    private enum Role: String {
        case asked, reader, writer, observer
    }

    private let prefs: SavedPrefs
    private let commanded: SavedPrefs
    private let looks: PlainLooks
    private let condition = NSCondition()
    private var tally = SaveTally()
    private var heard = 0
    private var isPaused = false
    private var isAtRest = false
    /// The last value that the writer has begun to assign, and the last one that it has stored.
    private var (begun, stored) = (0, 0)
    private var observations: [PrefsObservation] = []

    private init(_ path: String, writes: Bool) {
        let url = URL(filePath: path, directoryHint: .notDirectory)
        let store: PrefsStore =
            url.pathExtension == "json" ? PrefsStore.json(url: url) : PrefsStore.propertyList(url: url, layout: .flat)
        (prefs, commanded) = (SavedPrefs(store: store), SavedPrefs(store: store))
        looks = PlainLooks(path)
        if writes { prefs.own = 1 }
        heard = prefs.round
    }

    /// - Parameter arguments: the role, the path, and "writes" if the program has written the file before.
    static func serve(_ arguments: [String]) -> Never {
        guard arguments.count >= 2, let role = Role(rawValue: arguments[0]) else {
            fatalError("bystander asked|reader|writer|observer FILE [writes]")
        }
        let bystander = Bystander(arguments[1], writes: arguments.dropFirst(2).first == "writes")
        switch role {
        case .asked: break
        case .reader: Thread.detachNewThread { bystander.readOn() }
        case .writer: Thread.detachNewThread { bystander.writeOn() }
        case .observer: bystander.observe()
        }
        say("ready")
        while let line = readLine() { say(bystander.answer(line.split(separator: " ").map(String.init))) }
        exit(0)
    }

    // MARK: - The roles

    /// Reads about 5,000 times a second, typed and as a dictionary.
    private func readOn() {
        var last = 0
        for number in 0... {
            let begin = ContinuousClock.now
            var (round, person): (Int?, String?)
            switch number % 3 {
            case 0: round = prefs.round
            case 1: person = prefs.person
            default:
                let values = prefs.values
                (round, person) = (values["round"] as? Int ?? -1, values["person"] as? String ?? "default")
            }
            let (error, time) = (prefs.lastError, ContinuousClock.now - begin)
            condition.withLock {
                tally.reads += 1
                tally.longestRead = max(tally.longestRead, time / .milliseconds(1))
                if time > .milliseconds(20) { tally.slowReads += 1 }
                judge(round, person, after: last)
                if let error { judge(error) }
            }
            last = max(last, round ?? last)
            usleep(120)
        }
    }

    /// Assigns `own` without an end.
    private func writeOn() {
        for number in 2... {
            condition.withLock {
                isAtRest = true
                condition.broadcast()
                while isPaused { condition.wait() }
                isAtRest = false
                begun = number
            }
            prefs.own = number
            let error = prefs.lastError
            condition.withLock {
                tally.writes += 1
                if let error { judge(error) }
                if error?.isWarning ?? true { stored = number }
                condition.broadcast()
            }
        }
    }

    private func observe() {
        let change = prefs.onChange { [self] change in
            let (keys, values) = (change.keys, change.newValues)
            condition.withLock {
                tally.changes += 1
                judge(
                    keys.contains("round") ? values["round"] as? Int ?? -1 : nil,
                    keys.contains("person") ? values["person"] as? String ?? "default" : nil, after: heard)
                heard = values["round"] as? Int ?? heard
                condition.broadcast()
            }
        }
        let error = prefs.onError { [self] error in condition.withLock { judge(error) } }
        observations = [change, error]
    }

    // MARK: - The judgement

    /// A file is missing after 250 ms. The system's stamps are up to 10 ms old.
    private static let untilMissing = Duration.milliseconds(240)

    /// - Parameters:
    ///   - round: -1 if the key was missing; nil if nothing is known of it.
    ///   - person: likewise, "default" if the key was missing.
    private func judge(_ round: Int?, _ person: String?, after last: Int) {
        if round == -1 || person == "default" {
            if looks.missingTime >= Self.untilMissing {
                tally.trueDefaults += 1
            } else {
                tally.defaults += 1
                tally.keep("a default after round \(last)")
            }
        } else if (round ?? last) < last || (person ?? SaveTally.kept) != SaveTally.kept {
            tally.foreign += 1
            tally.keep("\(round ?? last) \(person ?? "") after round \(last)")
        }
    }

    private func judge(_ error: PrefsError) {
        let text = "\(error)"
        let isTrue =
            text.contains("is empty; another program may be writing it") && looks.emptyTime >= Self.untilMissing
            || text.contains("before the end of the data") && looks.shortTime >= .milliseconds(500)
            || text.contains("the last known state") && looks.malformedTime >= .milliseconds(490)
            || text.contains("was missing") && looks.missingTime >= Self.untilMissing
            || text.contains("by another program during the update")
            || text.contains("is still saving it")
        if isTrue {
            tally.trueErrors += 1
        } else {
            tally.untrueErrors += 1
            tally.keep(text)
        }
    }

    // MARK: - The commands

    private func answer(_ words: [String]) -> String {
        let number = words.count > 1 ? Int(words[1]) ?? 0 : 0
        switch words.first {
        case "read":
            let begin = ContinuousClock.now
            let values = commanded.values
            let time = Int((ContinuousClock.now - begin) / .milliseconds(1))
            return "\(values["round"] ?? -1) \(values["person"] ?? "default") \(time) \(error)"
        case "write":
            commanded.own = number
            return error
        case "pause":
            // A write waits for a save for a second at most.
            let latest = Date(timeIntervalSinceNow: TimeInterval(10 * Patience.slowness))
            return condition.withLock {
                let earlier = begun
                while stored <= earlier, condition.wait(until: latest) {}
                isPaused = true
                while !isAtRest { condition.wait() }
                return stored > earlier ? "\(stored)" : "no write"
            }
        case "go":
            condition.withLock {
                isPaused = false
                condition.broadcast()
            }
        case "hear":
            let latest = Date(timeIntervalSinceNow: Double(Patience.seconds))
            return condition.withLock {
                while heard != number, condition.wait(until: latest) {}
                return "\(heard)"
            }
        case "tally":
            return condition.withLock {
                tally.longestAbsence = looks.missingTime / .milliseconds(1)
                tally.longestMalformed = looks.malformedTime / .milliseconds(1)
                return (try? JSONEncoder().encode(tally)).map { String(decoding: $0, as: UTF8.self) } ?? ""
            }
        default: return "no command \(words)"
        }
        return "ok"
    }

    /// The last error of a commanded access.
    private var error: String { commanded.lastError.map { "\($0)" } ?? "ok" }
}
