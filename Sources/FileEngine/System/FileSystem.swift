/// The kinds of file systems that differ in what an open file is good for.
package enum FileSystem {
    /// The status of an open file shows that another file has taken its name.
    case local
    /// It may not show that, but open files keep their numbers.
    case overlay
    /// A server, or a program in user space. An open file may show an old state or another number, and may be in the way
    /// of its replacement. So none is kept open, and the status tells two states apart only after a while.
    case server
    /// A server whose client removes an open file in place of replacing it. It keeps a file for a second after its close,
    /// and gives it to the next open although it was replaced, unless the file had a lock.
    case smb

    package var isOnServer: Bool { self == .server || self == .smb }
}
