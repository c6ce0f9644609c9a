import Observation
import PrefsPropertyLists

/// Detects whether the current thread is in `withObservationTracking`. The framework offers no way to ask.
///
/// The framework puts the key path of each tracked access into a set, and so asks for its hash. The probe is a part of
/// such a key path. It reads a sample by that key path, and sees whether anyone has asked for its hash.
///
/// It costs 180 instructions per read. Without it, each untracked read would subscribe to the value and watch the file,
/// for about 8,500 instructions.
struct TrackingProbe: Hashable {
    private static let wasHashed = ThreadLocal()

    func hash(into hasher: inout Hasher) {
        Self.wasHashed.value = UnsafeRawPointer(bitPattern: 1)
    }

    /// Whether the probe detects a tracked read. False if a newer framework works differently: every read then counts
    /// as tracked.
    ///
    /// A probe that reports every read as tracked also returns true here. That is safe: nothing is missed. Finding out
    /// costs 1.2 million instructions at the start of a program.
    static let works = isKnownToWork || findsTracking(with: keyPath)

    /// The object that the probe reads, so that the real object is left alone.
    final class Sample: Observable, Sendable {}

    private static let sample = Sample()
    /// Made once: making a key path costs more than using it.
    nonisolated(unsafe) private static let keyPath: KeyPath<Sample, Void> = \.[probe: TrackingProbe()]

    /// Whether a read by a key path with a probe in it is detected inside `withObservationTracking`.
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
        // Clears what was recorded before. The framework also asks for hashes when a tracking begins and ends.
        if wasHashed.value != nil { wasHashed.value = nil }
        registrar.access(sample, keyPath: keyPath)
        return wasHashed.value != nil
    }
}

extension Observable {
    subscript(probe probe: TrackingProbe) -> Void { () }

    /// Gives the framework one key path for each key of the preferences; `observed: nil` stands for all values.
    subscript(observed key: String?) -> Void { () }
}
