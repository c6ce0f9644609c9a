import Foundation

private let chosenMutant = ProcessInfo.processInfo.environment["PREFS_MUTANT"]

/// Whether the fault of the patch with that name is active.
///
/// One build has the faults of all patches, and the environment chooses one when a test run starts: a build takes
/// minutes, a run of the tests that find a fault takes seconds. `Scripts/mutants.sh` copies this file into each target
/// that it patches.
func isMutant(_ name: String) -> Bool { name == chosenMutant }
