import Foundation

enum TerminalWidth {
    /// The least number of columns for a table of more than keys and values.
    static let ofTables = 72

    /// The number of columns of the terminal that a stream writes to; nil for a pipe or a file, which have no end of
    /// line.
    static func of(_ descriptor: Int32) -> Int? {
        guard isatty(descriptor) == 1 else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }
}
