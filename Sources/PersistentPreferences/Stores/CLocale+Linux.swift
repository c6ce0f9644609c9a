#if os(Linux) || os(Android)
    package import Foundation

    extension UserDefaults {
        /// Runs the body with the thread in the C locale. Every call on a `UserDefaults` object needs it: Foundation's XML
        /// parser uses the decimal separator of the thread's locale. A domain that it cannot parse reads as empty, and
        /// the next `synchronize()` loses its file.
        package static func inCLocale<R>(_ body: () throws -> R) rethrows -> R {
            let own = uselocale(cLocale)
            defer { uselocale(own) }
            return try body()
        }

        nonisolated(unsafe) private static let cLocale = newlocale(1 << LC_NUMERIC, "C", nil)
    }
#endif
