import PrefsStoreKit
import Testing

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsFileEngine
@testable import PrefsPropertyLists

/// What one access meets, and which of it is news. `ToldFaultsTests` has what a program sees of it.
@Suite struct FaultLogTests {
    // MARK: - What one access meets

    private static let places = ["size", "name"].map { PrefsProblem(layer: "file", place: $0, reason: "x") }

    /// A change in place meets the faults of its read again when it is stored.
    @Test func aFaultOfALayerThatIsMetTwiceIsListedOnce() {
        var outcome = AccessOutcome()
        outcome.note([Self.places[0]])
        outcome.note(Self.places)
        #expect(outcome.warning == .ignoredInLayer(Self.places) && outcome.others.isEmpty)
    }

    /// The warning that was met before it, of a write or of a layer, is told besides.
    @Test(arguments: [PrefsError.nearSizeLimit(bytes: 1, limit: 2), .ignoredInLayer([places[0]])])
    func anUnusableValueIsTheOutcomeAndHidesNoWarning(_ warning: PrefsError) {
        let fault = PrefsError.rootIsNotDictionary(key: "R")
        var outcome = AccessOutcome()
        if warning.isOfLayers { outcome.note(warning.problems) } else { outcome.note(warning) }
        for _ in 0..<2 { outcome.passOverBase(fault) }
        outcome.note([Self.places[1]])
        #expect(outcome.warning == fault && outcome.hasPassedOverBase)
        #expect(outcome.others == [warning, .ignoredInLayer([Self.places[1]])])
        #expect(outcome.noted == [warning, fault, fault, .ignoredInLayer([Self.places[1]])])
    }

    // MARK: - The list of faults

    private static let unfit = PrefsError.typeMismatch([])

    /// Only the outcome of an access is `lastError`.
    @Test func aFaultBesidesTheOutcomeIsToldOnly() {
        var log = FaultLog()
        for access in [FaultLog.Access.fault(), .faultOfWrite] {
            let news = log.record(.rootIsNotDictionary(key: "R"), of: access)
            #expect(!news.isOutcome && news.isOnce && news.told != nil && log.lastError == nil)
        }
        #expect(!log.record(nil, of: .write).isOutcome, "no access has failed")
        #expect(log.record(Self.unfit, of: .write).isOutcome && log.record(nil, of: .read()).isOutcome)
    }

    /// An observer and a read may meet it.
    @Test(arguments: [
        unfit, .constraintViolated([]), .rootIsNotDictionary(key: "R"), .userDefaultsUnavailable,
        .unknownError(error: nil), .migrationFailed(key: "R", version: 2, error: CancellationError()),
    ])
    func aFaultThatStandsIsToldToEachClosureOnce(_ fault: PrefsError) {
        var log = FaultLog()
        let news = log.record(fault, of: .read())
        #expect(news.told == fault && news.isOnce)
    }

    @Test func anotherFaultOfTheStoreIsToldWithoutAGoodReadBetween() {
        var log = FaultLog()
        let faults = [PrefsError.userDefaultsUnavailable, .userDefaultsUnavailable, .unknownError(error: nil)]
        let news = (faults + faults).map { log.record($0, of: .read()).told != nil }
        #expect(news == [true, false, true, true, false, true])
    }

    @Test func aThreadThatComesLateTellsNothingAgain() {
        var log = FaultLog()
        let (older, newer) = (Revision(), Revision())
        let news = [newer, older, newer, older].map {
            log.record(Self.unfit, of: .fault(of: "size", at: $0)).told != nil
        }
        #expect(news == [true, false, false, false])
    }

    /// An update reads a state that has no revision.
    @Test func aFaultThatAnUpdateMeetsTooIsToldOnce() {
        for revisions in [[Revision(), nil, Revision()], [nil, Revision(), nil]] {
            var log = FaultLog()
            let news = revisions.map { log.record(Self.unfit, of: .read(of: "size", at: $0)).told != nil }
            #expect(news == [true, false, false])
        }
    }

    @Test func aFaultOfTheRootIsToldForAllKeysOnce() {
        var log = FaultLog()
        let (revision, fault) = (Revision(), PrefsError.rootIsNotDictionary(key: "R"))
        let news = ["size", "name", nil].map { log.record(fault, of: .fault(of: $0, at: revision)).told != nil }
        #expect(news == [true, false, false])
    }

    /// A store without revisions.
    @Test func aFaultOfTheRootEndsWithTheReadOfAnyKey() {
        var log = FaultLog()
        let fault = PrefsError.rootIsNotDictionary(key: "R")
        #expect(log.record(fault, of: .fault(of: "size", at: nil)).told != nil && log.mayEnd)
        _ = log.record(nil, of: .read(of: "name"))
        #expect(!log.mayEnd)
        #expect(log.record(fault, of: .fault(of: "size", at: nil)).told != nil)
    }

    @Test func aReadOfAnotherKeyEndsNoFaultOfALayer() {
        var log = FaultLog()
        let faults = ["size", "name"].map { PrefsProblem(layer: "file", place: $0, reason: "x") }
        let fault = PrefsError.ignoredInLayer([faults[0]])
        #expect(log.record(fault, of: .fault(of: "size", at: Revision())).told != nil)
        _ = log.record(nil, of: .read(of: "name"))
        #expect(log.mayEnd && log.record(fault, of: .fault(of: "size", at: Revision())).told == nil)
        _ = log.record(nil, of: .read(of: "size"))
        #expect(!log.mayEnd && log.record(fault, of: .fault(of: "size", at: Revision())).told != nil)
        // Of two faults, the new one is told.
        let news = log.record(.ignoredInLayer(faults), of: .fault(of: nil, at: Revision())).told
        #expect(news == .ignoredInLayer([faults[1]]))
    }

    @Test func aValueThatFitsEndsItsOwnFaultOnly() {
        var log = FaultLog()
        for key in ["size", "name"] { #expect(log.record(Self.unfit, of: .fault(of: key, at: nil)).told != nil) }
        log.endValue("name")
        #expect(log.mayEnd && log.record(Self.unfit, of: .fault(of: "size", at: nil)).told == nil)
        log.endValue("size")
        #expect(!log.mayEnd)
        #expect(log.record(Self.unfit, of: .fault(of: "size", at: nil)).told != nil)
    }

    @Test func anotherFaultOfAValueIsTold() {
        var log = FaultLog()
        let news = [Self.unfit, .constraintViolated([]), .constraintViolated([])].map {
            log.record($0, of: .fault(of: "size", at: nil)).told != nil
        }
        #expect(news == [true, true, false])
    }
}
