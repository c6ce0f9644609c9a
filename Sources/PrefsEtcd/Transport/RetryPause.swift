import Foundation

/// The pause after a round in which all endpoints have failed. It grows to a second, so that waiting clients leave a server, or a proxy
/// without one, in peace; and it differs, so that the clients of a fleet do not come back together.
struct RetryPause {
    let length: Duration

    /// - Parameter rounds: how many rounds have failed, from 1 on.
    init(afterRounds rounds: Int) {
        let most = min(50 << max(0, min(rounds - 1, 5)), 1_000)
        length = .milliseconds(Int.random(in: (most / 2)...most))
    }

    /// Blocks the thread.
    func wait(until deadline: ContinuousClock.Instant? = nil) {
        let left = deadline.map { min(length, max(.zero, $0 - .now)) } ?? length
        poll(nil, 0, Int32((left / .milliseconds(1)).rounded(.up)))
    }
}
