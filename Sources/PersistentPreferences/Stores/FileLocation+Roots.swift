import PrefsFileEngine

/// A domain's roots in a file: what the stores on files have in common.
extension FileLocation {
    func read(root: String, _ layout: DomainLayout, durability: CommitDurability) throws -> RootSnapshot {
        try NameVetting.checkRoot(root)
        let reading = try PrefsError.converting { try read() }
        return RootSnapshot(
            of: root, in: reading.content, layout: layout, revision: reading.revision,
            warning: reading.warning.map { PrefsError($0) }, isConfirmed: reading.durability >= durability)
    }

    func subscribe(
        to root: String, _ layout: DomainLayout, _ subscriber: any EntrySubscriber, from known: LastKnownEntry?
    ) throws -> EntrySubscription {
        try NameVetting.checkRoot(root)
        return try PrefsError.converting { try subscribe(to: layout.part(of: root), subscriber, from: known) }
    }

    func takeWarning() -> PrefsError? {
        (try? withFile { $0.takeWarning() })?.map { PrefsError($0) }
    }

    func confirm(_ durability: CommitDurability) throws {
        try PrefsError.converting { try withFile { try $0.confirm(durability) } }
    }

    /// A transaction in which one root is changed.
    func transact(
        _ root: String, _ layout: DomainLayout, durability: CommitDurability,
        _ body: (RootTransaction) throws -> Void
    ) throws {
        try NameVetting.checkRoot(root)
        try PrefsError.converting {
            try transact(durability: durability) {
                try body(RootTransaction(transaction: $0, root: root, layout: layout))
            }
        }
    }
}
