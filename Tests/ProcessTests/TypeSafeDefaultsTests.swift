import Foundation
import TestSupport
import Testing
import WriteOperations

/// Keys outside of a class, as in seed 003, over `UserDefaults`, in children with their own homes.
@Suite(.waits) final class TypeSafeDefaultsTests: ProbeSuite {
    @Test func theListingOfTheSeedWorks() throws {
        try expect("done\n", of: "type-safe-defaults")
        // The date has lost its fraction, because UserDefaults has written its own values over the file, in XML.
        try expect("30.0 true Robin 0.0\n", of: "type-safe-defaults-read")
    }

    @Test func everyOperationIsOnDiskWhenItReturns() throws {
        let expected = WriteOperation.of(.defaults).flatMap { operation in
            let line = operation.effect == .puts ? "\(operation) ok 2 2" : "\(operation) ok nothing 0"
            return Array(repeating: line, count: operation == .keyValue ? 1 : 2)
        }
        try expect(expected.map { $0 + "\n" }.joined(), of: "write-to-defaults")
    }

    @Test func aValueOfAnotherProgramIsRead() throws {
        let settings: [String: Any] = [
            "fontSize": 7, "Has Widgets": 1, "testPerson": ["name": "Eve", "quest": "", "age": 1],
        ]
        try writeDomain(settings)
        try expect("7.0 true Eve 0.25\n", of: "type-safe-defaults-read")
    }

    /// The engine reads the file before UserDefaults, whose parser may not survive every damage. This one is harmless.
    @Test func aDamagedDomainIsSurvived() throws {
        try FileManager.default.createDirectory(at: home.file(".config"), withIntermediateDirectories: true)
        try Data("damaged".utf8).write(to: domain)
        try expect("12.0 false nobody 0.25\n", of: "type-safe-defaults-read")
        #expect(try names() == ["Probe.plist"])
        #expect(try Data(contentsOf: domain) == Data("damaged".utf8))
    }

    /// A read writes nothing and waits for no lock, although UserDefaults returns other values than the file has.
    @Test func argumentsAreNotRead() throws {
        try expect("12.0 false nobody 0.25\n", of: "type-safe-defaults-read", "-fontSize", "20", "-Has Widgets", "YES")
        #expect(!FileManager.default.fileExists(atPath: home.file(".config").path))
    }
}
