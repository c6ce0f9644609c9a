#if canImport(Darwin)
    package import Foundation

    extension UserDefaults {
        /// Runs the body. On Apple platforms, no locale changes what `UserDefaults` reads and writes.
        package static func inCLocale<R>(_ body: () throws -> R) rethrows -> R { try body() }
    }
#endif
