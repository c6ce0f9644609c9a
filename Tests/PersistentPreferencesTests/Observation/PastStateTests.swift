@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences

/// The state that reads see while key-value observers are notified. This part of key-value observing runs on every
/// platform.
@Suite struct PastStateTests {
    private final class Prefs: RecordingPrefs, @unchecked Sendable {
        @Pref var size = 12
        @Pref var name = "none"
    }

    private let store = PrefsStore.memory()

    private func prefs(_ values: [String: Any]) -> Prefs { Prefs(key: "Root", values: values, store: store) }

    @Test func readsOfTheInstanceSeeIt() {
        let prefs = prefs(["size": 2, "name": "new"])
        // Cached now, and no value of the past state.
        #expect(prefs.size == 2 && prefs.name == "new")
        let past = PreviousStateRead(["size": .integer(1)], of: prefs.state)
        past.asCurrent {
            #expect(prefs.size == 1)
            #expect(prefs.name == "none")
            #expect(prefs["size"] as? Int == 1)
            #expect(prefs["name"] == nil)
            #expect(Array(prefs.values.keys) == ["size"])
            #expect(prefs.values.count == 1)
            #expect(!prefs.$name.isStored)
        }
        #expect(prefs.size == 2)
        #expect(prefs.name == "new")
    }

    @Test func onlyThoseOnItsThread() {
        let prefs = prefs(["size": 2])
        let other = Prefs(key: "Root", store: store)
        PreviousStateRead(["size": .integer(1)], of: prefs.state).asCurrent {
            #expect(other.size == 2)
            inThreads(1) { _ in #expect(prefs.size == 2) }
        }
    }

    @Test func theInnermostCounts() throws {
        let prefs = prefs(["size": 3])
        PreviousStateRead(["size": .integer(1)], of: prefs.state).asCurrent {
            #expect(throws: Stop.self) {
                try PreviousStateRead(["size": .integer(2)], of: prefs.state).asCurrent {
                    #expect(prefs.size == 2)
                    throw Stop()
                }
            }
            #expect(prefs.size == 1)
            PreviousStateRead(nil, of: prefs.state).asCurrent { #expect(prefs.values.isEmpty) }
        }
        #expect(prefs.size == 3)
    }

    @Test func statesOfTwoInstancesDoNotHideEachOther() {
        let (prefs, other) = (prefs(["size": 3]), Prefs(key: "Other", values: ["size": 4], store: store))
        PreviousStateRead(["size": .integer(1)], of: prefs.state).asCurrent {
            PreviousStateRead(["size": .integer(2)], of: other.state).asCurrent {
                #expect(prefs.size == 1 && other.size == 2)
                #expect(prefs["size"] as? Int == 1)
                #expect(other["size"] as? Int == 2)
            }
            #expect(prefs.size == 1 && other.size == 4)
        }
        #expect(prefs.size == 3 && other.size == 4)
    }

    @Test func writesStartFromWhatIsStored() {
        let prefs = prefs(["size": 2, "name": "new"])
        PreviousStateRead(["size": .integer(1), "name": .string("old")], of: prefs.state).asCurrent {
            prefs.size += 10
            prefs.update { $0["size"] = ($0["size"] as? Int ?? 0) + 100 }
            // The value equals only the past state.
            prefs.name = "old"
        }
        #expect(prefs.size == 112)
        #expect(prefs.name == "old")
    }

    @Test func errorsOfItsReadsAreNotReported() {
        let prefs = prefs(["size": 2])
        prefs["unknown"] = 1
        #expect(prefs.lastError == .incorrectKeys(invalidElements: ["unknown"]))
        PreviousStateRead(["size": .string("large")], of: prefs.state).asCurrent {
            #expect(prefs.size == 12)
            #expect(prefs["unknown"] == nil)
            prefs.reload()
        }
        #expect(prefs.lastError == .incorrectKeys(invalidElements: ["unknown"]))
        #expect(prefs.errors.count == 1)
    }
}
