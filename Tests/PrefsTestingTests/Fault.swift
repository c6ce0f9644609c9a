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
