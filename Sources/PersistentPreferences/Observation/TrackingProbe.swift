import Observation
import PrefsPropertyLists

/// Detects whether a thread is in `withObservationTracking`. It is a part of a key path and records a request for its
/// hash, because the framework puts the key path of a tracked access into a set.
///
/// It costs 180 instructions per read. Without it, each untracked read would cost about 8,500 more, would subscribe to
/// the value and so would watch the file.
struct TrackingProbe: Hashable {
    private static let wasHashed = ThreadLocal()

    func hash(into hasher: inout Hasher) {
        Self.wasHashed.value = UnsafeRawPointer(bitPattern: 1)
    }

    /// Whether the probe detects a tracked read. If it does not, the framework has changed, and every read counts as
    /// tracked. A probe that reports every read as tracked has the same effect and needs no test.
    static let works = findsTracking(with: keyPath)

    /// The object that the probe reads instead of the one whose value is read.
    final class Sample: Observable, Sendable {}

    private static let sample = Sample()
    /// Kept, because making it costs more than using it.
    nonisolated(unsafe) private static let keyPath: KeyPath<Sample, Void> = \.[probe: TrackingProbe()]

    /// - Parameter keyPath: the key path with the probe.
    static func findsTracking(with keyPath: KeyPath<Sample, Void>) -> Bool {
        withObservationTracking {
            isTracked(by: ObservationRegistrar(), keyPath)
        } onChange: {
        }
    }

    static func isTracked(by registrar: ObservationRegistrar) -> Bool {
        isTracked(by: registrar, keyPath)
    }

    private static func isTracked(by registrar: ObservationRegistrar, _ keyPath: KeyPath<Sample, Void>) -> Bool {
        // The framework asks for hashes at other times too: when a tracking is installed, and when it is over.
        wasHashed.value = nil
        registrar.access(sample, keyPath: keyPath)
        return wasHashed.value != nil
    }
}

extension Observable {
    subscript(probe probe: TrackingProbe) -> Void { () }

    /// The key path that stands for the value of a key in the framework. nil stands for all values.
    subscript(observed key: String?) -> Void { () }
}
