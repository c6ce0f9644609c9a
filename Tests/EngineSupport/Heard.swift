import Foundation
import TestSupport
import Testing

/// The changes that an observer has received, in order. A test can wait for them.
///
/// After `wait(for:)` nothing more may come. A change before the end of this object, or before the next wait, is an
/// issue at the line that waited.
final class Heard<Element: Sendable>: @unchecked Sendable {
    private let condition = NSCondition()
    private var elements: [Element] = []
    /// The number of changes of the last wait and its place; nil if more may come.
    private var last: (count: Int, place: SourceLocation)?

    deinit {
        guard let last, elements.count > last.count else { return }
        Issue.record(
            "after \(last.count) were waited for, more came: \(elements[last.count...])", sourceLocation: last.place)
    }

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

    /// Waits until the changes satisfy the condition, and returns all of them. More may come. A wait that is too long
    /// ends, and is an issue.
    @discardableResult
    func wait(
        sourceLocation: SourceLocation = #_sourceLocation, until isEnough: ([Element]) -> Bool
    ) -> [Element] {
        condition.lock()
        defer { condition.unlock() }
        last = nil
        return waitLocked("more", sourceLocation, until: isEnough)
    }

    /// Waits for exactly this number of changes, and returns them.
    @discardableResult
    func wait(for count: Int, sourceLocation: SourceLocation = #_sourceLocation) -> [Element] {
        condition.lock()
        defer { condition.unlock() }
        let elements = waitLocked("\(count)", sourceLocation) { $0.count >= count }
        last = (count, sourceLocation)
        return elements
    }

    private func waitLocked(
        _ awaited: String, _ place: SourceLocation, until isEnough: ([Element]) -> Bool
    ) -> [Element] {
        var limit = Date(timeIntervalSinceNow: TimeInterval(Patience.seconds))
        var isLong = !Patience.isShort
        while !isEnough(elements) {
            if isLong, Patience.isShort {
                (isLong, limit) = (false, min(limit, Date(timeIntervalSinceNow: TimeInterval(Patience.seconds))))
            }
            // Looks once a second whether others have failed in the meantime.
            let next = isLong ? min(limit, Date(timeIntervalSinceNow: 1)) : limit
            guard condition.wait(until: next) || next < limit else {
                let failure = Patience.failure("waited for \(awaited), heard only \(elements.count): \(elements)")
                Issue.record("\(failure)", sourceLocation: place)
                break
            }
        }
        return elements
    }
}

/// A gate that threads pass once it is open. A wait that is too long ends, and is an issue.
final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func pass(within seconds: Int = Patience.seconds, sourceLocation: SourceLocation = #_sourceLocation) {
        defer { semaphore.signal() }
        guard semaphore.wait(timeout: .now() + .seconds(seconds)) == .timedOut else { return }
        Issue.record("\(Patience.failure("the gate was not opened"))", sourceLocation: sourceLocation)
    }
}

extension Trait where Self == TimeLimitTrait {
    /// The limit of tests that wait by `await`. It is half an hour, because a task that is resumed queues behind all
    /// other tests, and the limit is set before anybody knows how busy the machine will be.
    static var limited: Self { .timeLimit(.minutes(max(30, Patience.seconds / 60))) }
}
