import Foundation
import PrefsPropertyLists
import TestSupport
import Testing

@testable import PrefsFileEngine

/// A commit takes over the bytes of the last commit only if the file still has these bytes.
@Suite struct TakenOverTests {
    /// One process stores most values, another one some, and a person edits the file in between.
    @Test(arguments: 0..<UInt64(Hazard.count(3, long: 10))) func whateverWasStoredInBetween(_ seed: UInt64) throws {
        let folder = try TemporaryFolder()
        var random = SeededGenerator(seed: seed)
        let (ours, others) = (FileRoot(folder.file().path), FileRoot(folder.file().path, system: SystemCalls()))
        var expected: [String: Int] = [:]
        for number in 0..<40 { expected["key\(number)"] = number % 7 }
        ours.values = expected
        for step in 0..<60 {
            let key = "key\(Int.random(in: 0..<60, using: &random))"
            let value = [1, 2, 3, 300, 70_000].randomElement(using: &random)
            let writer = Int.random(in: 0..<10, using: &random)
            let after = writer == 9 && expected.count > 1 ? nil : value
            if expected[key] == after { continue }
            expected[key] = after
            switch writer {
            case 0, 1: others[key] = value
            case 2, 3:
                let bytes = try PropertyListSerialization.data(
                    fromPropertyList: [FileRoot.key: expected], format: writer == 2 ? .binary : .xml, options: 0)
                try bytes.write(to: folder.file(), options: step % 2 == 0 ? [] : .atomic)
            default: ours[key] = expected[key]
            }
            let stored = try propertyList(at: folder.file())[FileRoot.key] as? [String: Int]
            #expect(stored == expected, "seed \(seed), step \(step)")
            guard writer > 3 else { continue }
            let bytes = try Data(contentsOf: folder.file())
            let list = try PropertyListCoder.decode(bytes)
            #expect(try PropertyListCoder.encode(list.value, as: list.format) == bytes, "seed \(seed), step \(step)")
        }
        #expect(ours.outcome == "ok" && others.outcome == "ok")
        #expect(ours.ints == expected && others.ints == expected)
    }
}
