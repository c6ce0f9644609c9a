import Foundation
import TestSupport

@testable import EngineSupport
@testable import PrefsFileEngine

/// A folder, and a file of a simulated server in it.
class ServerSuite: FolderSuite {
    let system = RecordingSystemCalls()

    override init() throws {
        try super.init()
        system.kind = .server
    }

    /// The root of a new process that knows nothing of the file.
    func root(_ durability: CommitDurability = .powerCut) -> FileRoot {
        FileRoot(folder.file().path, durability: durability, system: system)
    }
}
