import Foundation
import PersistentPreferences
import TestSupport
import Testing

@testable import EngineSupport
@testable import PrefsSupport
@testable import PrefsFileEngine

/// One member of a batch has a value that the file cannot hold. The others are stored.
@Suite struct BatchVettingTests {
    private let folder = TemporaryFolder.fresh

    nonisolated(unsafe) static let unfit: [(value: Any, reason: String)] = [
        ("a\u{1}b", "key0: the control character U+0001 cannot be stored in XML"),
        ("\u{FEFF}a", "key0: a string that begins with U+FEFF cannot be stored in XML"),
        (
            Date(timeIntervalSinceReferenceDate: 1e12),
            "key0: a date outside of the years 1 to 9999 cannot be stored in XML"
        ),
        (["deep": ["a\u{FFFF}"]], "key0.deep[0]: the character U+FFFF cannot be stored in XML"),
    ]

    /// While the first thread is in its update, the others join.
    @Test(arguments: unfit.indices, [DomainLayout.roots, .flat])
    func oneMembersValueFailsNoOther(_ index: Int, _ layout: DomainLayout) throws {
        let (value, reason) = Self.unfit[index]
        let url = folder.file()
        let store = PrefsStore.propertyList(url: url, format: .plainXML, durability: .crash, layout: layout)
        let keys = (0..<8).map { "key\($0)" }
        let prefs = (0..<8).map { AnyPrefs(keys, key: "R\(layout == .flat ? 0 : $0)", store: store) }
        prefs[0]["key1"] = 0
        let errors = Locked([Int: String]())
        let isIn = Gate()
        nonisolated(unsafe) let unfit = value
        inThreads(8) { number in
            if number == 7 {
                prefs[7].update {
                    isIn.open()
                    // Until all of the others wait.
                    while FileRegistry.shared.file(at: url.path, system: .real).queue.waiting < 7 { usleep(100) }
                }
            } else {
                isIn.pass()
                let error = prefs[number].update { $0["key\(number)"] = number == 0 ? unfit : number }.failure
                if let error { errors.withLock { $0[number] = "\(error)" } }
            }
        }
        let found = errors.withLock { $0 }
        #expect(Array(found.keys) == [0], "\(found)")
        #expect(found[0]?.contains(reason) == true, "\(found)")
        for number in 1..<7 { #expect(prefs[number]["key\(number)"] as? Int == number) }
        #expect(prefs[0]["key0"] == nil)
    }

    @Test func theMemberThatWouldMakeTheFileTooLargeIsRejected() throws {
        let session = try PropertyListFile(path: folder.file().path, system: .real).begin()
        defer { session.end() }
        let third = StoredValue.data(Data(count: PropertyListLimits.fileBytes / 5 * 2))
        let one = try session.vet(["a": third], after: nil, beside: 0)
        let two = try session.vet(["a": third, "b": third], after: ["a": third], beside: one)
        #expect {
            _ = try session.vet(
                ["a": third, "b": third, "c": third], after: ["a": third, "b": third], beside: one + two)
        } throws: {
            guard case FileError.notStored(let failure) = $0 else { return false }
            return failure.reason.contains("would be larger than")
        }
        // A change that replaces another one does not add to it.
        _ = try session.vet(["a": third, "b": .bool(true)], after: ["a": third, "b": third], beside: one + two)
    }
}
