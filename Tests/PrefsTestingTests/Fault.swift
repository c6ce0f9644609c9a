import TestSupport

/// The faults of a `BrokenBackend`. Each breaks one rule, in the order of the checks.
enum Fault: String, CaseIterable {
    case inventsRoots, dropsEmptyRoots, cachesForEver, isBoundToAThread, normalizesNames, keepsRootsSetToNil
    case returnsNumbersForBooleans, keepsWrittenObjects, acceptsEmptyNames, dropsUnsupportedValues
    case losesAnIncrement, losesAKey, runsBodiesTwice, commitsAfterAnError, wrapsErrors
    case readsOldStateInUpdates, writesWholeRoots, dropsNestedRoots, restoresWhatIsLeftAlone, forgivesNestedErrors
    case commitsNestedUpdates, wrapsTheErrorOfOtherStores
    case neverCalls, reportsEqualUpdates, reportsOtherRoots, reportsRolledBackUpdates, reportsNestedUpdates
    case reportsOutOfOrder, callsAtOnce, rejectsWritesInCalls, waitsForClosures, ignoresTheEnd
    case comparesWithOldStates, forgetsStates
    // Each of these breaks what another expectation of the same checks is about.
    case laterObjectsReadNothing, acceptsNULs, acceptsMarks, acceptsLongNames, updatesWithEmptyNames
    case returnsOtherStrings, returnsOtherData, returnsOtherDates, returnsOtherIntegers, returnsOtherDoubles
    case returnsOtherOptionals, returnsOtherLists, returnsOtherDictionaries
    case namesOneRejectedKey, storesAPartOfARejectedUpdate, runsABodyOnAnotherThread
    case dropsNestedCreations, readsOldStateInNestedBodies, wrapsTheErrorInOtherStores
    case dropsWritesOfCalls, keepsObservations, readsTheServerInUpdates, knowsOnlyItsWrites

    /// The key of `valuesHaveTheirTypes` whose value has another type.
    var keyOfAnotherType: String? {
        switch self {
        case .returnsOtherStrings: "string"
        case .returnsOtherData: "data"
        case .returnsOtherDates: "date"
        case .returnsOtherIntegers: "int"
        case .returnsOtherDoubles: "double"
        case .returnsOtherOptionals: "optional"
        case .returnsOtherLists: "list"
        case .returnsOtherDictionaries: "dictionary"
        default: nil
        }
    }

    /// The names of the checks that detect the fault, and a part of the text of their errors.
    var expected: (checks: [String], finding: String) {
        switch self {
        case .inventsRoots: (["missingIsNil"], "Expected nil before the first write, found [].")
        case .dropsEmptyRoots:
            (["emptyIsNotMissing"], "Expected [] after an update that stores an empty root, found nil.")
        case .cachesForEver:
            (
                ["updateIsRead"],
                "Expected [a: 2, b: [\"x\", \"y\"]] after the second update, found [a: 1, b: [\"x\", \"y\"]]."
            )
        case .isBoundToAThread: (["everyThreadReads"], "Expected [a: 1] in another thread, found nil.")
        case .normalizesNames: (["rootsAreSeparate"], "Expected [a: 1] in the root \"A\", found [a: 2].")
        case .keepsRootsSetToNil: (["nilRemoves"], "Expected nil after the root was set to nil, found [].")
        case .returnsNumbersForBooleans: (["valuesHaveTheirTypes"], "Expected the Bool true for \"bool\", found ")
        case .keepsWrittenObjects: (["nothingIsAliased"], "after the written object has changed")
        case .acceptsEmptyNames:
            (
                ["badRootIsRejected"],
                "Expected an error of a read with a root key of 0 characters, \"\", found no error."
            )
        case .dropsUnsupportedValues:
            (["unsupportedIsRejected"], "Expected valuesNotPlistCompatible of an update with a UUID and a closure")
        case .losesAnIncrement:
            (["incrementsAddUp"], "Expected [n: 200] after 50 increments in each of 4 threads, found [n: 199].")
        case .losesAKey:
            (
                ["keysOfManyWritersSurvive"],
                "Expected [0: 50, 1: 50, 2: 50, 3: 50] after the last update, found [0: 50, 1: 50, 2: 50]."
            )
        case .runsBodiesTwice: (["bodyRunsOnce"], "Expected 200 runs of as many updates, found 400.")
        case .commitsAfterAnError:
            (["throwingChangesNothing"], "Expected [a: 1] after the update has thrown, found [a: 2].")
        case .wrapsErrors: (["errorOfTheBodyIsThrown"], "Expected the error of the body, found Wrapped")
        case .readsOldStateInUpdates:
            (["nestedReadSeesNestedWrite"], "Expected [a: 1] in an update, after an update in it, found nil.")
        case .writesWholeRoots:
            (["nestedWriteJoins"], "Expected [a: 1, b: 2] after an update and an update in it, found [a: 1")
        case .dropsNestedRoots: (["nestedRootsCommitTogether"], "The root of the inner update is missing.")
        case .restoresWhatIsLeftAlone:
            (["leftAloneKeepsNestedWrites"], "Expected nil after a nested removal, found [a: 1].")
        case .forgivesNestedErrors:
            (["nestedErrorUndoesAll"], "Expected an error of an update that catches the error of an update in it")
        case .commitsNestedUpdates: (["outerErrorUndoesAll"], "Expected nil after that error, found [b: 1].")
        case .wrapsTheErrorOfOtherStores: (["otherStoreIsRejected"], "Expected updateOfAnotherStore, found Wrapped")
        case .neverCalls:
            (
                [
                    "commitsAreReported", "equalUpdateIsNoChange", "otherRootIsNoChange", "rolledBackUpdateIsNoChange",
                    "updateIsOneChange", "callsComeInOrder", "closureMayUseTheStore", "slowClosureDelaysNoCommit",
                    "cancelledIsNotCalled",
                ], "within 0 s"
            )
        case .reportsEqualUpdates:
            (["equalUpdateIsNoChange"], "Expected [n: 1] as the old values in a change of the root, found [].")
        case .reportsOtherRoots:
            (["otherRootIsNoChange"], "Expected [n: 1] as the old values in a change of the root, found [].")
        case .reportsRolledBackUpdates:
            (["rolledBackUpdateIsNoChange"], "Expected [n: 2] as the new values in a change of the root, found [n: 7].")
        case .reportsNestedUpdates:
            (["updateIsOneChange"], "Expected [n: 3] as the new values in a change of the root, found [n: 1].")
        case .reportsOutOfOrder: (["callsComeInOrder"], "Expected a change from 4, found one from 5.")
        case .callsAtOnce: (["callsComeInOrder"], "A call began before the last one had ended.")
        case .rejectsWritesInCalls: (["closureMayUseTheStore"], "Wrapped")
        case .waitsForClosures: (["slowClosureDelaysNoCommit"], "slowClosureDelaysNoCommit")
        case .ignoresTheEnd: (["cancelledIsNotCalled"], "The closure of a cancelled observation was called.")
        case .comparesWithOldStates: (["currentIsNewest"], "Expected [a: 1] from current, after an update, found nil.")
        case .forgetsStates: (["lastKnownIsWhatWasRead"], "Expected [a: 1] from lastKnown, after an update, found nil.")
        case .laterObjectsReadNothing:
            (["rootsAreSeparate"], "Expected [a: 2] in the root \"B/../.\", through another object, found nil.")
        case .acceptsNULs:
            (["badRootIsRejected"], "of a read with a root key of 3 characters, \"a\\0b\", found no error.")
        case .acceptsMarks: (["badRootIsRejected"], "of a read with a root key of 2 characters, ")
        case .acceptsLongNames:
            (["badRootIsRejected"], "of a read with a root key of 1025 characters, \"xxxxx\", found")
        case .updatesWithEmptyNames:
            (["badRootIsRejected"], "of an update with a root key of 0 characters, \"\", found no error.")
        case .returnsOtherStrings, .returnsOtherData, .returnsOtherDates, .returnsOtherIntegers, .returnsOtherDoubles,
            .returnsOtherOptionals, .returnsOtherLists, .returnsOtherDictionaries:
            (["valuesHaveTheirTypes"], " for \"\(keyOfAnotherType ?? "")\", found ")
        case .namesOneRejectedKey:
            (["unsupportedIsRejected"], "Expected valuesNotPlistCompatible with the keys b and z, found ")
        case .storesAPartOfARejectedUpdate:
            (["unsupportedIsRejected"], "Expected [a: 1] after the rejected update, found [a: 2].")
        case .runsABodyOnAnotherThread: (["bodyRunsOnce"], "The body ran on another thread.")
        case .dropsNestedCreations:
            (["leftAloneKeepsNestedWrites"], "Expected [a: 2] after a nested creation, found nil.")
        case .readsOldStateInNestedBodies:
            (["nestedReadSeesNestedWrite"], "Expected [a: 1] at the start of another update in it, found nil.")
        case .wrapsTheErrorInOtherStores: (["otherStoreIsRejected"], "Expected updateOfAnotherStore, found Wrapped")
        case .dropsWritesOfCalls: (["closureMayUseTheStore"], "The write of the closure is missing.")
        case .keepsObservations: (["cancelledIsNotCalled"], "The closure of a released observation was called.")
        case .readsTheServerInUpdates:
            (["currentIsNewest"], "Expected [a: 2] from current, in an update, found [a: 1].")
        case .knowsOnlyItsWrites:
            (["lastKnownIsWhatWasRead"], "Expected [a: 2] from lastKnown, after a read, found [a: 1].")
        }
    }

    /// The seconds until a missing call counts as missing.
    var patience: Int {
        switch self {
        case .neverCalls: 0
        case .waitsForClosures: 1
        default: 2 * Patience.seconds
        }
    }
}
