import Foundation
import PersistentPreferences
import TestSupport

private final class TorturePrefs: PersistentPrefs, @unchecked Sendable {
    override var keys: [String] { TortureWriter.keys + [TortureWriter.covered.key] }
}

/// Writes until it is killed. Prints the number that it finds, then each number once its write has returned.
extension Probe {
    static func torture(_ arguments: [String]) throws {
        guard arguments.count >= 2, let index = Int(arguments[0]),
            let manner = TortureWriter.Manner(rawValue: arguments[1])
        else { fatalError("torture WRITER MANNER [FILE [flat | LAYER]]") }
        let writer = TortureWriter(index)
        let prefs: TorturePrefs
        if arguments.count > 2 {
            prefs = TorturePrefs(store: tortured(URL(filePath: arguments[2]), arguments.dropFirst(3).first))
        } else {
            prefs = TorturePrefs()
        }
        var number = try writer.number(in: prefs.values)
        let cover = prefs[TortureWriter.covered.key] as? String
        acknowledge(number)
        while true {
            number += 1
            write(number, of: writer, to: prefs, manner)
            if let error = prefs.lastError { fatalError("\(error)") }
            if prefs[TortureWriter.covered.key] as? String != cover { fatalError("the layer above has changed") }
            acknowledge(number)
        }
    }

    private static func tortured(_ file: URL, _ word: String?) -> any PrefsStore {
        guard let layer = word, layer != "flat" else { return store(file, layout: word == nil ? .roots : .flat) }
        return LayeredStore(
            store(file), above: [.file(URL(filePath: layer))], below: [.values(TortureWriter.initialValues)])
    }

    private static func write(
        _ number: Int, of writer: TortureWriter, to prefs: TorturePrefs, _ manner: TortureWriter.Manner
    ) {
        let payload = writer.payload(number)
        func change(_ values: inout [String: Any]) {
            values[writer.numberKey] = number
            values[writer.payloadKey] = payload
        }
        switch manner {
        case .update:
            prefs.update { change(&$0) }
        case .nested:
            prefs.update {
                prefs[writer.numberKey] = number
                prefs[writer.payloadKey] = payload
            }
        case .inPlace:
            change(&prefs.values)
        case .subscripted:
            prefs[writer.numberKey] = ["number": number, "payload": payload]
        }
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
