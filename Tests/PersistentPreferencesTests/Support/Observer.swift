import Observation
import Testing

@testable import EngineSupport
@testable import PersistentPreferences

/// An observer that records what it hears, until it is released or cancelled.
final class Observer<Element: Sendable>: Sendable {
    let heard = Heard<Element>()
    private let observation: PrefsObservation

    /// - Parameter observe: begins an observation, which hands over what is heard.
    init(_ observe: (_ tell: @escaping @Sendable (Element) -> Void) throws -> PrefsObservation) rethrows {
        observation = try observe { [heard] in heard.append($0) }
    }

    var all: [Element] { heard.all }

    func cancel() { observation.cancel() }

    @discardableResult func wait(
        for count: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) -> [Element] {
        heard.wait(for: count, sourceLocation: sourceLocation)
    }

    @discardableResult func wait(
        sourceLocation: SourceLocation = #_sourceLocation, until isEnough: ([Element]) -> Bool
    ) -> [Element] {
        heard.wait(sourceLocation: sourceLocation, until: isEnough)
    }
}

extension PersistentPrefs {
    /// Hears the changes of some keys or, without a key, of all, as text.
    func observer(of keys: String...) -> Observer<String> {
        Observer { tell in onChange(of: keys) { tell($0.text) } }
    }

    /// Hears the errors, as text.
    func errorObserver() -> Observer<String> { Observer { tell in onError { tell("\($0)") } } }
}

extension PrefHandle where Value: Sendable {
    /// Hears the old and the new value of each change.
    func observer() -> Observer<[Value]> { Observer { tell in onChange { tell([$0, $1]) } } }
}

/// Tracks what a body reads, by the Observation framework. Returns what is read when it is told of the change.
func tracking<Element: Sendable>(
    _ read: () -> Void, onChange: @escaping @Sendable () -> Element
) -> Heard<Element> {
    let heard = Heard<Element>()
    withObservationTracking(read) { heard.append(onChange()) }
    return heard
}
