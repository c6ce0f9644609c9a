import Foundation

/// The bounds within which everything downstream (Foundation's coders, small thread stacks, Apple's daemon) is safe.
package enum PropertyListLimits {
    /// Bytes of the largest file that is read at all, and so of the largest that is written.
    package static let fileBytes = 256 << 20
    /// Levels of containers in one value. Foundation overflows a 512 KB stack at 511 levels.
    static let depth = 128
    /// Levels accepted in a file: a root and the top level stand above a value, and other programs may nest a little
    /// deeper than we do. Foundation's XML parser overflows a 128 KB stack at 300.
    static let fileDepth = 160
    /// Values in a file, shared references counted each time they are met; and objects in a binary file, met or not.
    static let fileNodes = 1 << 22
    /// The most values in a binary file, in addition to one for each of its bytes. Only shared containers give more, and no known writer
    /// shares containers on purpose. Without the limit, five hundred bytes could take seconds and hundreds of megabytes.
    static let sharedNodes = 1 << 18
    /// The most bytes of texts and data in a file, in addition to its own length. Shared ones count each time.
    static let sharedBytes = 16 << 20
    /// Bytes of one root, estimated as its binary property list: what Apple platforms refuse in a domain.
    package static let rootBytes = 4 << 20
    /// Seconds from the reference date. Beyond about 6.7e16 an XML property list holds another date.
    static let dateInterval: TimeInterval = 6e16
}
