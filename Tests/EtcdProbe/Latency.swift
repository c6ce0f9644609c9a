import Dispatch
import Foundation
import PersistentPreferences
import PersistentPreferencesEtcd

/// Medians of what an access takes, for `Tests/README.md`.
enum Latency {
    static func report() throws {
        let (followed, current) = (try store(), try store(.current))
        // Another deadline is another client, with its own connection and watch.
        let other = try store(deadline: .seconds(11))
        try followed.update(root: "A") { $0 = ["count": 0] }
        let signal = DispatchSemaphore(value: 0)
        let observation = try other.observe(root: "A") { _ in signal.signal() }
        let writes = try median(300) { number in
            try followed.update(root: "A") { $0 = ["count": number] }
            signal.wait()
        } from: { number in
            try followed.update(root: "B") { $0 = ["count": number] }
        }
        let heard = try median(300) { number in
            try followed.update(root: "A") { $0 = ["count": -number] }
            signal.wait()
        }
        let direct = try median(1_000) { _ in _ = try current.read(root: "A") }
        let cached = try median(10_000) { _ in _ = try followed.read(root: "A") }
        observation.cancel()
        say(
            "update \(writes), heard elsewhere after its start \(heard), current read \(direct), followed read \(cached)"
        )
    }

    /// - Parameter body: what is timed; by default the warm-up too.
    private static func median(
        _ count: Int, _ warmUp: (Int) throws -> Void, from body: ((Int) throws -> Void)? = nil
    ) throws -> Duration {
        for number in 1...20 { try warmUp(number) }
        var times: [Duration] = []
        for number in 1...count {
            let begin = ContinuousClock.now
            if let body { try body(number + 100) } else { try warmUp(number + 100) }
            times.append(ContinuousClock.now - begin)
        }
        return times.sorted()[count / 2]
    }
}
