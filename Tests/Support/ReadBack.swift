import PrefsPropertyLists

/// Reads back each binary list that this process writes, in a debug build: a fault of the writer would replace a good file.
/// Every test with a folder of its own begins it.
package enum ReadBack {
    package static let begin: Void = {
        #if DEBUG
            let check = BinaryFormat.Check { bytes, value in
                let read = try? PropertyListCoder.decode(bytes).value
                precondition(read?.plain == value.plain, "a written list is read as another value")
            }
            BinaryFormat.check.withLock { $0 = check }
        #endif
    }()
}
