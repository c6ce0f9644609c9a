import TestSupport
import Testing

/// A running `prefs watch`, whose standard error is read with its output.
struct Watching {
    let child: PipedChild

    /// - Parameters:
    ///   - place: the place that its first line names.
    ///   - messages: the messages before that line.
    init(_ arguments: [String], at place: String, in home: HarnessHome, after messages: [String] = []) throws {
        child = try PipedChild("prefs", ["watch"] + arguments, home: home.folder, mergesErrors: true)
        for message in messages + ["watching \(place); press Ctrl-C to stop"] {
            #expect(try child.line() == "prefs: " + message)
        }
    }

    /// Returns the next line. Checks its time, and replaces it by `TIME`.
    func line() throws -> String {
        let line = try child.line()
        let form = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{3})?Z/
        try #require(line.contains(form))
        return line.replacing(form, with: "TIME", maxReplacements: 1)
    }
}
