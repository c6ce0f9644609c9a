import Foundation
import PersistentPreferences
import PrefsLayers
import TestSupport
import WriteOperations

private final class TorturePrefs: PersistentPrefs, @unchecked Sendable {
    override var allowedKeys: [String] { TortureWriter.keys + [TortureWriter.covered.key] }
}

/// Writes until it is killed. Prints the number that it finds, then each number once its write has returned.
extension Probe {
    static func torture(_ arguments: [String]) throws {
        guard arguments.count >= 2, let index = Int(arguments[0]),
            let operation = WriteOperation(rawValue: arguments[1])
        else { fatalError("torture WRITER OPERATION [FILE [flat | LAYER]]") }
        let writer = TortureWriter(index)
        let file = arguments.dropFirst(2).first.map { URL(filePath: $0) }
        let prefs = file.map { TorturePrefs(store: tortured($0, arguments.dropFirst(3).first)) } ?? TorturePrefs()
        var number = try writer.number(in: prefs.values)
        let cover = prefs[TortureWriter.covered.key] as? String
        acknowledge(number)
        while true {
            number += 1
            if let error = write(number, of: writer, to: prefs, operation) ?? prefs.lastError { fatalError("\(error)") }
            if prefs[TortureWriter.covered.key] as? String != cover { fatalError("the layer above has changed") }
            acknowledge(number)
        }
    }

    private static func tortured(_ file: URL, _ word: String?) -> PrefsStore {
        guard let layer = word, layer != "flat" else { return store(file, layout: word == nil ? .roots : .flat) }
        return PrefsStore.layered(
            store(file), above: [.file(URL(filePath: layer))], below: [.values(TortureWriter.initialValues)])
    }

    /// Number and payload at once: under two keys, or in a dictionary.
    private static func write(
        _ number: Int, of writer: TortureWriter, to prefs: TorturePrefs, _ operation: WriteOperation
    ) -> PrefsError? {
        let payload = writer.payload(number)
        let value: Any = operation.storesSeveralKeys ? number : ["number": number, "payload": payload] as [String: Any]
        let target = WriteTarget(prefs, key: writer.numberKey, with: [writer.payloadKey: payload]) { value }
        return operation.isAsync ? waiting { await target.perform(operation) } : target.performBlocking(operation)
    }

    /// Prints with one system call and without a buffer, so that an acknowledged number is in the pipe when a kill
    /// comes.
    private static func acknowledge(_ number: Int) {
        let line = Data("\(number)\n".utf8)
        let count = line.withUnsafeBytes { Foundation.write(1, $0.baseAddress, $0.count) }
        // The reader has ended, so nobody would kill this process.
        if count != line.count { exit(1) }
    }
}
