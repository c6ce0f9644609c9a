import Foundation
import Testing

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
