package import Foundation

/// The limits within which Foundation's coders, small thread stacks and Apple's daemon are safe.
package enum PropertyListLimits {
    /// The most bytes of a file that is read or written.
    package static let fileBytes = 256 << 20
    /// The most levels of containers in one value. A level of Foundation's objects takes 900 bytes of stack, and a
    /// thread may have 96 KiB.
    package static let depth = 64
    /// The most levels in a file. They include a root and the top level, and other programs may nest a little deeper
    /// than this package.
    package static let fileDepth = 80
    /// The most values in a file, counting a shared value once for each reference; and the most objects in a binary
    /// file, with or without a reference.
    package static let fileNodes = 1 << 22
    /// The most values in a binary file, in addition to one for each of its bytes. Only shared containers give more,
    /// and no known writer shares containers on purpose. Without the limit, five hundred bytes could take seconds and
    /// hundreds of megabytes.
    package static let sharedNodes = 1 << 18
    /// The most bytes of texts and data in a file, in addition to its own length. Shared ones count each time.
    package static let sharedBytes = 16 << 20
    /// The most bytes of one root, estimated as its binary property list. Apple platforms reject larger domains.
    package static let rootBytes = 4 << 20
    /// The most seconds from the reference date. Beyond about 6.7e16 an XML property list holds a different date.
    package static let dateInterval: TimeInterval = 6e16
}
