import Foundation
import PersistentPreferences
import PrefsEtcd
import PrefsStoreKit

/// What accesses cost, for `Tests/Benchmarks/README.md`.
enum Latency {
    /// Prints medians of the time, and the processor time of an update beside that of a bare transaction.
    static func report() throws {
        let (followed, current) = (try store(), try store(.current))
        // Another deadline is another client, with its own connection and watch.
        let other = try store(deadline: .seconds(11))
        try followed.update(root: "A") { $0 = ["count": 0] }
        let (bare, gateway) = (try BareCall(url: url), try BareGatewayTransaction(url: url))
        let transaction = try median(1_000) { try bare.run(value: "\($0)") }
        let byGateway = try median(1_000) { try gateway.run(value: "\($0)") }
        let alone = try median(1_000) { number in try followed.update(root: "A") { $0 = ["count": number] } }
        let signal = DispatchSemaphore(value: 0)
        let observation = try other.observe(root: "A") { _ in signal.signal() }
        let heard = try median(300) { number in
            try followed.update(root: "A") { $0 = ["count": -number] }
            signal.wait()
        }
        let direct = try median(1_000) { _ in _ = try current.read(root: "A") }
        let cached = try median(10_000) { _ in _ = try followed.read(root: "A") }
        observation.cancel()
        say(
            "bare transaction \(transaction)\nthe same by the gateway \(byGateway)\nupdate \(alone)\nheard elsewhere after its start \(heard)"
        )
        say("current read \(direct)\nfollowed read \(cached)")
    }

    /// Changes a root, and prints how often it did so in some seconds, after as many seconds in which other clients may start.
    ///
    /// - Parameter manner: `assign` assigns to a property, `increment` adds to it in an update, and `update` does so without an instance
    ///   that follows the root. `bare` sends a transaction of etcd without the store, and `bare-json` one by the gateway.
    static func work(on root: String, seconds: Int, manner: String) throws {
        let change: (Int) throws -> Void
        if manner.hasPrefix("bare") {
            let bare: any BareTransaction =
                try manner == "bare" ? BareCall(url: url + root) : BareGatewayTransaction(url: url + root)
            change = { try bare.run(value: "{\n  \"count\": \($0)\n}\n") }
        } else {
            let store = try store(deadline: .seconds(60))
            // It follows the root, unless only the store updates it.
            let prefs = manner == "update" ? nil : CountPrefs(key: root, store: store.store)
            change = { number in
                guard let prefs else {
                    return try store.update(root: root) { $0 = ["count": count(in: $0) + 1] }
                }
                if manner == "assign" { prefs.number = number } else { prefs.update { prefs.number += 1 } }
                if let error = prefs.lastError { throw error }
            }
        }
        try change(0)
        let begin = ContinuousClock.now + .seconds(seconds)
        var (changes, number) = (0, 0)
        while case let now = ContinuousClock.now, now < begin + .seconds(seconds) {
            number += 1
            try change(number)
            if now > begin { changes += 1 }
        }
        say("\(changes) \(processorTime())")
    }

    /// Assigns the numbers from 1 on to a property.
    static func assign(_ count: Int) throws {
        let prefs = CountPrefs(key: "B", store: try store().store)
        for number in 1...count {
            prefs.number = number
            if let error = prefs.lastError { throw error }
        }
    }

    /// The median time, and the mean processor time of this process.
    private static func median(_ count: Int, _ body: (Int) throws -> Void) throws -> String {
        for number in 1...20 { try body(number) }
        var times: [Duration] = []
        let used = processorTime()
        for number in 1...count {
            let begin = ContinuousClock.now
            try body(number + 100)
            times.append(ContinuousClock.now - begin)
        }
        let processor = (processorTime() - used) / count
        return "\(milliseconds(times.sorted()[count / 2])), processor time \(milliseconds(processor))"
    }

    private static func milliseconds(_ time: Duration) -> String {
        String(format: "%.4f ms", time / .milliseconds(1))
    }

    private static func processorTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}

private final class CountPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref var number = 0
}
