import Observation
import PrefsPropertyLists

/// Detects whether a thread is in `withObservationTracking`. It is a part of a key path and records a request for its hash, because
/// the framework puts the key path of a tracked access into a set.
///
/// It costs 180 instructions a read. Without it, each untracked read would cost about 8,500 more, and would
/// subscribe to what it reads, which watches the file.
struct TrackingProbe: Hashable {
    private static let wasHashed = ThreadLocal()

    func hash(into hasher: inout Hasher) {
        Self.wasHashed.value = UnsafeRawPointer(bitPattern: 1)
    }

    /// Whether the probe detects a tracked read. If it does not, the framework has changed, and every read has to count as
    /// tracked. A probe that takes every read for tracked has the same effect and needs no test.
    static let works = findsTracking(with: keyPath)

    /// The object that the probe reads instead of the one whose value is read.
    final class Sample: Observable, Sendable {}

    private static let sample = Sample()
    /// Making it costs more than asking.
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

    /// The key path by which the framework knows the value of a key; that of all values if the key is nil.
    subscript(observed key: String?) -> Void { () }
}
