/// The faults of a `BrokenStore`. Each breaks one rule, in the order of the checks.
enum Fault: String, CaseIterable {
    case inventsRoots, dropsEmptyRoots, cachesForEver, isBoundToAThread, normalizesNames, keepsRootsSetToNil
    case returnsNumbersForBooleans, keepsWrittenObjects, acceptsEmptyNames, dropsUnsupportedValues
    case losesAnIncrement, losesAKey, runsBodiesTwice, commitsAfterAnError, wrapsErrors
    case readsOldStateInUpdates, writesWholeRoots, dropsNestedRoots, restoresWhatIsLeftAlone, forgivesNestedErrors
    case commitsNestedUpdates, wrapsTheErrorOfOtherStores
    case neverCalls, reportsEqualUpdates, reportsOtherRoots, reportsRolledBackUpdates, reportsNestedUpdates
    case reportsOutOfOrder, callsAtOnce, rejectsWritesInCalls, waitsForClosures, ignoresTheEnd
    case comparesWithOldStates, forgetsStates

    /// The names of the checks that detect the fault.
    var checks: [String] {
        switch self {
        case .inventsRoots: ["missingIsNil"]
        case .dropsEmptyRoots: ["emptyIsNotMissing"]
        case .cachesForEver: ["updateIsRead"]
        case .isBoundToAThread: ["everyThreadReads"]
        case .normalizesNames: ["rootsAreSeparate"]
        case .keepsRootsSetToNil: ["nilRemoves"]
        case .returnsNumbersForBooleans: ["valuesHaveTheirTypes"]
        case .keepsWrittenObjects: ["nothingIsAliased"]
        case .acceptsEmptyNames: ["badRootIsRejected"]
        case .dropsUnsupportedValues: ["unsupportedIsRejected"]
        case .losesAnIncrement: ["incrementsAddUp"]
        case .losesAKey: ["keysOfManyWritersSurvive"]
        case .runsBodiesTwice: ["bodyRunsOnce"]
        case .commitsAfterAnError: ["throwingChangesNothing"]
        case .wrapsErrors: ["errorOfTheBodyIsThrown"]
        case .readsOldStateInUpdates: ["nestedReadSeesNestedWrite"]
        case .writesWholeRoots: ["nestedWriteJoins"]
        case .dropsNestedRoots: ["nestedRootsCommitTogether"]
        case .restoresWhatIsLeftAlone: ["leftAloneKeepsNestedWrites"]
        case .forgivesNestedErrors: ["nestedErrorUndoesAll"]
        case .commitsNestedUpdates: ["outerErrorUndoesAll"]
        case .wrapsTheErrorOfOtherStores: ["otherStoreIsRejected"]
        case .neverCalls:
            [
                "commitsAreReported", "equalUpdateIsNoChange", "otherRootIsNoChange", "rolledBackUpdateIsNoChange",
                "updateIsOneChange", "callsComeInOrder", "closureMayUseTheStore", "slowClosureDelaysNoCommit",
                "cancelledIsNotCalled",
            ]
        case .reportsEqualUpdates: ["equalUpdateIsNoChange"]
        case .reportsOtherRoots: ["otherRootIsNoChange"]
        case .reportsRolledBackUpdates: ["rolledBackUpdateIsNoChange"]
        case .reportsNestedUpdates: ["updateIsOneChange"]
        case .reportsOutOfOrder, .callsAtOnce: ["callsComeInOrder"]
        case .rejectsWritesInCalls: ["closureMayUseTheStore"]
        case .waitsForClosures: ["slowClosureDelaysNoCommit"]
        case .ignoresTheEnd: ["cancelledIsNotCalled"]
        case .comparesWithOldStates: ["currentIsNewest"]
        case .forgetsStates: ["lastKnownIsWhatWasRead"]
        }
    }

    /// The text of the error.
    var finding: String {
        switch self {
        case .inventsRoots: "Expected nil before the first write, found []."
        case .dropsEmptyRoots: "Expected [] after an update that stores an empty root, found nil."
        case .cachesForEver:
            "Expected [a: 2, b: [\"x\", \"y\"]] after the second update, found [a: 1, b: [\"x\", \"y\"]]."
        case .isBoundToAThread: "Expected [a: 1] in another thread, found nil."
        case .normalizesNames: "Expected [a: 1] in the root \"A\", found [a: 2]."
        case .keepsRootsSetToNil: "Expected nil after the root was set to nil, found []."
        case .returnsNumbersForBooleans: "Expected the Bool true for \"bool\", found "
        case .keepsWrittenObjects: "after the written object has changed"
        case .acceptsEmptyNames: "Expected an error of a read with a root key of 0 characters, \"\", found no error."
        case .dropsUnsupportedValues: "Expected valuesNotPlistCompatible of an update with a UUID and a closure"
        case .losesAnIncrement: "Expected [n: 200] after 50 increments in each of 4 threads, found [n: 199]."
        case .losesAKey: "Expected [0: 50, 1: 50, 2: 50, 3: 50] after the last update, found [0: 50, 1: 50, 2: 50]."
        case .runsBodiesTwice: "Expected 200 runs of as many updates, found 400."
        case .commitsAfterAnError: "Expected [a: 1] after the update has thrown, found [a: 2]."
        case .wrapsErrors: "Expected the error of the body, found Wrapped"
        case .readsOldStateInUpdates: "Expected [a: 1] in an update, after an update in it, found nil."
        case .writesWholeRoots: "Expected [a: 1, b: 2] after an update and an update in it, found [a: 1"
        case .dropsNestedRoots: "The root of the inner update is missing."
        case .restoresWhatIsLeftAlone: "Expected nil after a nested removal, found [a: 1]."
        case .forgivesNestedErrors: "Expected an error of an update that catches the error of an update in it"
        case .commitsNestedUpdates: "Expected nil after that error, found [b: 1]."
        case .wrapsTheErrorOfOtherStores: "Expected updateOfAnotherStore, found Wrapped"
        case .neverCalls: "within 0 s"
        case .reportsEqualUpdates: "Expected [n: 1] as the old values in a change of the root, found []."
        case .reportsOtherRoots: "Expected [n: 1] as the old values in a change of the root, found []."
        case .reportsRolledBackUpdates: "Expected [n: 2] as the new values in a change of the root, found [n: 7]."
        case .reportsNestedUpdates: "Expected [n: 3] as the new values in a change of the root, found [n: 1]."
        case .reportsOutOfOrder: "Expected a change from 4, found one from 5."
        case .callsAtOnce: "A call began before the last one had ended."
        case .rejectsWritesInCalls: "Wrapped"
        case .waitsForClosures: "slowClosureDelaysNoCommit"
        case .ignoresTheEnd: "The closure of a cancelled observation was called."
        case .comparesWithOldStates: "Expected [a: 1] from current, after an update, found nil."
        case .forgetsStates: "Expected [a: 1] from lastKnown, after an update, found nil."
        }
    }

    /// The seconds until a missing call counts as missing.
    var patience: Int {
        switch self {
        case .neverCalls: 0
        case .waitsForClosures: 1
        default: 60
        }
    }
}
