import PrefsFileEngine
import PrefsPropertyLists

/// The result of a read of one of this package's stores: the domain. The root is extracted when it is needed.
struct RootSnapshot {
    private let content: Transaction.Content?
    private let root: String
    private let layout: DomainLayout
    /// A flat domain of `UserDefaults`. Read entry by entry instead of `content`, because a copy is expensive.
    private let domain: DefaultsDomain?
    /// nil if only a comparison shows whether two contents are equal.
    var revision: Revision?
    /// Something to report although the read succeeded.
    var warning: PrefsError?
    /// The layers around the root, if the store has any. The values of the snapshot are those of the base.
    var layers: LayersSnapshot?

    init(
        of root: String, in content: Transaction.Content?, layout: DomainLayout = .roots, revision: Revision? = nil,
        warning: PrefsError? = nil, layers: LayersSnapshot? = nil
    ) {
        self.content = content
        self.root = root
        self.layout = layout
        self.revision = revision
        self.warning = warning
        self.layers = layers
        domain = nil
    }

    /// - Throws: `FileError.unreadable`.
    init(flat domain: DefaultsDomain, root: String) throws {
        try domain.checkReadable()
        self.domain = domain
        self.root = root
        layout = .flat
        content = nil
    }

    /// - Throws: `PrefsError.rootIsNotDictionary`, `PrefsError.unreadable`.
    func values() throws(PrefsError) -> [String: StoredValue]? {
        guard let domain else {
            if content == nil, isUnreadable, let warning { throw warning }
            return try layout.dictionary(of: root, in: content)
        }
        do {
            return try domain.content()
        } catch {
            throw PrefsError(error)
        }
    }

    /// Whether the base of the layers could not be read. The warning says why, and so does each attempt to get its values.
    var isUnreadable: Bool { layers?.isBaseUnreadable ?? false }

    /// All entries of the domain; nil if there is no domain.
    func entries() throws -> [String: StoredValue]? {
        try domain?.content() ?? content
    }

    /// Whether to read one value is cheaper than to read all.
    var isReadByKey: Bool { domain != nil }

    /// One of the values, without the others if possible. Errors as of ``values()``.
    func value(forKey key: String) throws(PrefsError) -> StoredValue? {
        guard let domain else { return try values()?[key] }
        do {
            return try domain.entry(key).value
        } catch {
            throw PrefsError(error)
        }
    }
}
