import Foundation
import Testing

@testable import PersistentPreferences

/// What an observer has heard, in order, to be waited for.
final class Heard<Element: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var elements: [Element] = []

    func append(_ element: Element) {
        condition.lock()
        elements.append(element)
        condition.broadcast()
        condition.unlock()
    }

    var all: [Element] {
        condition.lock()
        defer { condition.unlock() }
        return elements
    }

    /// All of them once what was heard is as asked. That it never is ends the wait after ten minutes, and is an issue.
    @discardableResult
    func wait(
        sourceLocation: SourceLocation = #_sourceLocation, until isEnough: ([Element]) -> Bool
    ) -> [Element] {
        condition.lock()
        defer { condition.unlock() }
        let limit = Date(timeIntervalSinceNow: 600)
        while !isEnough(elements) {
            guard condition.wait(until: limit) else {
                Issue.record("not heard; so far: \(elements)", sourceLocation: sourceLocation)
                break
            }
        }
        return elements
    }

    @discardableResult
    func wait(for count: Int, sourceLocation: SourceLocation = #_sourceLocation) -> [Element] {
        wait(sourceLocation: sourceLocation) { $0.count >= count }
    }
}

/// Lets one or more threads through, once it is open; a wait for one that never opens ends after ten minutes.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    @discardableResult
    func pass() -> Bool {
        defer { semaphore.signal() }
        return semaphore.wait(timeout: .now() + 600) == .success
    }
}

extension PrefsChange {
    /// All of it: `Root a: 1 → 2, b: - → 'x'`, with `elsewhere` and `×3` where those are so.
    var text: String {
        let values = keys.map { key in
            "\(key): \(oldValues[key].map(exactForm) ?? "-") → \(newValues[key].map(exactForm) ?? "-")"
        }
        return ([root] + [values.joined(separator: ", ")]).joined(separator: " ")
            + (origin == .elsewhere ? " elsewhere" : "") + (count == 1 ? "" : " ×\(count)")
    }
}

/// Every change that an instance's observer hears, as text, up to a last one that is made for the purpose: what comes before
/// it is all there was. For one thread.
final class Listener {
    let heard = Heard<String>()
    private let observation: PrefsObservation
    private let prefs: AnyPrefs
    private var taken = 0

    init(_ prefs: AnyPrefs) {
        self.prefs = prefs
        observation = prefs.onChange { [heard] in heard.append($0.text) }
    }

    /// What was heard since the last call.
    func take(sourceLocation: SourceLocation = #_sourceLocation) -> [String] {
        let mark = UUID().uuidString
        prefs.update { $0["end"] = mark }
        let all = heard.wait(sourceLocation: sourceLocation) { $0.last?.contains("→ '\(mark)'") == true }
        defer { taken = all.count }
        return Array(all.dropLast().dropFirst(taken))
    }
}

/// The names that observers are tested with; `end` marks the end of a test.
let observedNames = ["a", "b", "c", "end"]
