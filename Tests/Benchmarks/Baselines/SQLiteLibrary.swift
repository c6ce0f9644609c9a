import Foundation

/// The part of SQLite that a store of settings needs. Loaded at run time, so that nothing depends on it.
struct SQLiteLibrary: Sendable {
    typealias Connection = OpaquePointer
    typealias Statement = OpaquePointer

    let open: @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Connection?>) -> Int32
    let execute:
        @convention(c) (
            Connection, UnsafePointer<CChar>, UnsafeRawPointer?, UnsafeMutableRawPointer?, UnsafeMutableRawPointer?
        ) -> Int32
    let prepare:
        @convention(c) (
            Connection, UnsafePointer<CChar>, Int32, UnsafeMutablePointer<Statement?>, UnsafeMutableRawPointer?
        ) -> Int32
    let bind: @convention(c) (Statement, Int32, Int64) -> Int32
    let step: @convention(c) (Statement) -> Int32
    let reset: @convention(c) (Statement) -> Int32
    let finish: @convention(c) (Statement) -> Int32
    let close: @convention(c) (Connection) -> Int32

    init() throws {
        #if canImport(Darwin)
            let name = "libsqlite3.dylib"
        #else
            let name = "libsqlite3.so.0"
        #endif
        guard let library = dlopen(name, RTLD_NOW) else { throw Unavailable("no \(name) is installed") }
        func symbol<Function>(_ name: String) throws -> Function {
            guard let address = dlsym(library, name) else { throw Unavailable("no \(name) in the library") }
            return unsafeBitCast(address, to: Function.self)
        }
        open = try symbol("sqlite3_open")
        execute = try symbol("sqlite3_exec")
        prepare = try symbol("sqlite3_prepare_v2")
        bind = try symbol("sqlite3_bind_int64")
        step = try symbol("sqlite3_step")
        reset = try symbol("sqlite3_reset")
        finish = try symbol("sqlite3_finalize")
        close = try symbol("sqlite3_close")
    }
}

/// A table of settings that commits each write durably.
final class SQLiteTable {
    private let library: SQLiteLibrary
    private let connection: SQLiteLibrary.Connection
    private let statement: SQLiteLibrary.Statement

    /// - Parameter journal: `DELETE`, which is SQLite's default, or `WAL`.
    init(_ file: URL, journal: String) throws {
        library = try SQLiteLibrary()
        var opened: SQLiteLibrary.Connection?
        _ = library.open(file.path, &opened)
        guard let opened else { throw Unavailable("SQLite opens no file") }
        connection = opened
        for sentence in [
            "PRAGMA journal_mode=\(journal)", "PRAGMA synchronous=FULL",
            "CREATE TABLE prefs (name TEXT PRIMARY KEY, value)",
            "INSERT INTO prefs VALUES ('x', 1), ('name', 'a name of some length'), ('ratio', 0.75), ('isOn', 1), "
                + "('words', 'one two three')",
        ] {
            guard library.execute(connection, sentence, nil, nil, nil) == 0 else {
                throw Unavailable("SQLite refuses \(sentence)")
            }
        }
        var prepared: SQLiteLibrary.Statement?
        _ = library.prepare(connection, "INSERT OR REPLACE INTO prefs VALUES ('x', ?)", -1, &prepared, nil)
        guard let prepared else { throw Unavailable("SQLite prepares no statement") }
        statement = prepared
    }

    deinit {
        _ = library.finish(statement)
        _ = library.close(connection)
    }

    func write(_ x: Int) throws {
        let done: Int32 = 101
        guard library.bind(statement, 1, Int64(x)) == 0, library.step(statement) == done,
            library.reset(statement) == 0
        else { throw SystemError(operation: "SQLite", code: EIO) }
    }
}
