/// What a store of this package gives the base class for a read: the domain, of which the root is taken when it is needed.
struct RootReading {
    private let content: Transaction.Content?
    private let root: String
    /// nil where the same content cannot be told from another but by looking at it.
    var revision: Revision?
    /// Something to report although the read succeeded.
    var notice: PrefsError?
    /// Whether the state is as sure to last as the store promises, so that an equal write has nothing left to do.
    var isConfirmed = true

    init(
        of root: String, in content: Transaction.Content?, revision: Revision? = nil, notice: PrefsError? = nil,
        isConfirmed: Bool = true
    ) {
        self.content = content
        self.root = root
        self.revision = revision
        self.notice = notice
        self.isConfirmed = isConfirmed
    }

    /// - Throws: `PrefsError.rootIsNotDictionary`.
    func values() throws(PrefsError) -> [String: Any]? {
        try Transaction.dictionary(of: root, in: content)
    }
}
