@testable import PrefsFileEngine

extension PropertyListFile {
    func transact(durability: CommitDurability, _ body: (Transaction) throws -> Void) throws {
        try queue.transact(durability: durability, begin: begin, body)
    }
}
