import Foundation

/// The progress of a stress, on standard error: a bar on a terminal, otherwise one line at the start.
struct StressProgress {
    private let context: ProcessContext
    private let isBar: Bool
    private let total: Int
    private let seconds: Int?
    private let start: ContinuousClock.Instant
    private var lastShown: ContinuousClock.Instant?
    private var width = 0

    init(_ plan: StressPlan, _ context: ProcessContext, folder: String, isSilent: Bool) {
        self.context = context
        isBar = !isSilent && isatty(context.errors) == 1
        total = plan.total
        seconds = plan.seconds
        start = .now
        guard !isSilent, !isBar else { return }
        let processes = plan.processes == 1 ? "1 process" : "\(plan.processes) processes"
        context.writeError(
            "prefs: \(processes) of \(VetRunner.count(plan.threads, "thread")), \(plan.seconds.map { "\($0) s" } ?? VetRunner.count(total, "write")), in \(folder.printable)\n"
        )
    }

    /// Updates the bar at most ten times a second.
    mutating func show(_ writes: Int, kills: Int) {
        let now = ContinuousClock.now
        guard isBar, lastShown.map({ now - $0 > .milliseconds(100) }) ?? true else { return }
        lastShown = now
        let elapsed = max(0.001, Double((now - start) / .milliseconds(1)) / 1_000)
        let rate = Double(writes) / elapsed
        let remaining = seconds.map { max(0, Double($0) - elapsed) } ?? Double(total - writes) / max(rate, 0.001)
        let filled = seconds.map { min(30, Int(elapsed * 30) / $0) } ?? writes * 30 / max(1, total)
        let bar = String(repeating: "#", count: filled) + String(repeating: "-", count: 30 - filled)
        let left = rate > 0 ? ", \(Int(remaining.rounded(.up))) s left" : ""
        let line =
            "[\(bar)] \(writes)\(seconds == nil ? "/\(total)" : ""), \(Int(rate))/s\(left)"
            + (kills > 0 ? ", \(kills) killed" : "")
        context.writeError("\r" + line + String(repeating: " ", count: max(0, width - line.count)))
        width = line.count
    }

    /// Erases the bar.
    func end() {
        if isBar { context.writeError("\r" + String(repeating: " ", count: width) + "\r") }
    }
}
