import Foundation
import PersistentPreferences

/// A root as the watch has heard of it.
struct RootCopy {
    var stored = StoredRoot.missing
    /// The last revision in which it is known to be so; 0 before it was read.
    var reached: Int64 = 0
    /// What this process has stored in a later revision.
    var ahead: StoredRoot?
    /// The revision of what observers have started with.
    var toldUntil: Int64 = 0
    /// What observers were not told yet, because it may be the result of a transaction whose outcome is not known yet.
    var untold: [(stored: StoredRoot, revision: Int64)] = []
}

/// What an update of this process has made of a root.
struct RootStep {
    let change: RemoteChange
    let result: StoredRoot

    var root: String { change.root }
}

/// A transaction of this process that observers have not heard of yet.
struct OwnTransaction {
    let operation: String
    /// The key of its client's marker.
    let marker: Data
    /// Whether there was a marker before.
    let hasMarker: Bool
    var steps: [RootStep]
    /// The revision; nil as long as nobody knows whether it was carried out.
    var revision: Int64?
    /// Whether its update has ended without an answer.
    var isUnknown = false
    /// Until this revision it was not carried out.
    var absentUntil: Int64 = 0

    /// Whether it may have made a root what it was in a revision.
    func mayHaveChanged(_ root: String, until revision: Int64) -> Bool {
        self.revision == nil && revision > absentUntil && steps.contains { $0.root == root }
    }
}
