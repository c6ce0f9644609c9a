import PrefsFileEngine
import PrefsPropertyLists

/// The state of one root, with the layers around it, that all reads inside `PersistentPrefs.read` see.
final class SnapshotRead: ReadContext {
    private let key: String
    private let roots: Roots
    private let domain: any Domain
    /// nil until the state is kept.
    private var source: AnyObject?
    private var layers: (any RootLayersSnapshot)?
    /// The part of the domain with the root.
    private var own: Result<DomainState, any Error>?
    /// The other parts that the first read needed: former roots that the root may be in, or the entries of a flat domain.
    private var others: [String: Result<DomainState, any Error>] = [:]
    /// A state with a warning that the first read will report.
    private var unreported: DomainState?
    /// The revision of the state, if a read of it reports nothing.
    private(set) var revision: Revision?
    private var isBeginning = true

    init(of key: String, in roots: Roots, _ domain: any Domain) {
        (self.key, self.roots, self.domain) = (key, roots, domain)
    }

    /// The read that has kept the state of a root on this thread.
    static func current(of key: String, in roots: Roots) -> SnapshotRead? {
        ReadContext.current?.first { $0.keeps(key, in: roots) }
    }

    private func keeps(_ key: String, in roots: Roots) -> Bool {
        self.key == key && (self.roots === roots || self.roots.layers === roots.layers && isOf(roots.domain))
    }

    override func revision(of root: String, for instance: AnyObject, in roots: Roots) -> Revision? {
        keeps(root, in: roots) ? revision : super.revision(of: root, for: instance, in: roots)
    }

    /// Keeps the state of a root that is in one part of the domain.
    ///
    /// - Returns: false if a first read has to find out what to keep, or has something to report.
    func begin(hasFormerRoots: Bool) -> Bool {
        guard !hasFormerRoots, roots.layers == nil, roots.layout == .roots,
            (try? NameVetting.checkRoot(key)) != nil, let domain = try? roots.requiredDomain(),
            let state = try? super.state(of: .root(key), in: domain)
        else { return false }
        if state.warning != nil {
            unreported = state
            return false
        }
        isBeginning = false
        own = .success(state.withoutNews)
        source = domain.source
        revision = state.revision
        return true
    }

    /// Ends the first read. From now on, its parts are kept.
    func begin(with view: RootView?, hasWarning: Bool) {
        isBeginning = false
        // A path may have been resolved since.
        source = domain.source
        layers = view?.layers
        revision = hasWarning ? nil : view?.revision
    }

    private func isOf(_ other: (any Domain)?) -> Bool {
        guard let other else { return false }
        // The links of a path may change meanwhile.
        return other === domain || source != nil && other.source === source
    }

    override func state(of part: DomainPart, in domain: any Domain) throws -> DomainState {
        let isOwn = part.name == key
        guard isBeginning else {
            if let known = isOwn ? own : others[part.name], isOf(domain) { return try known.get() }
            return try super.state(of: part, in: domain)
        }
        // A backend may read a store of this package.
        guard domain === self.domain else { return try super.state(of: part, in: domain) }
        let found = Result { try unreported ?? super.state(of: part, in: domain) }
        unreported = nil
        if isOwn { own = found.map(\.withoutNews) } else { others[part.name] = found.map(\.withoutNews) }
        return try found.get()
    }

    override func layers(of layers: any RootLayers) -> (any RootLayersSnapshot)? {
        layers === roots.layers && !isBeginning ? self.layers : super.layers(of: layers)
    }
}

extension DomainState {
    /// The state without a warning of an earlier write, which only one read reports.
    fileprivate var withoutNews: DomainState {
        guard let warning, PrefsError(warning).isWarning else { return self }
        return DomainState(
            content, hasAllEntries: hasAllEntries, revision: revision, isOfUpdate: isOfUpdate, format: format,
            durability: durability)
    }
}

// MARK: - An earlier state

/// A state that the reads of one instance see on one thread while a closure runs. An observer of a value that is computed by
/// reading the instance sees each state; and a key-value observer, which is told after the commit that a value will change, asks
/// for the former value.
///
/// Writes still start from what is stored. Errors of such reads are not reported.
final class PreviousStateRead: ReadContext {
    let entry: EntryState
    private let instance: RootInstance

    init(_ entry: EntryState, of instance: RootInstance) {
        self.entry = entry
        self.instance = instance
    }

    /// Creates a state of a root without layers; nil if the root is missing.
    convenience init(_ root: [String: StoredValue]?, of instance: RootInstance) {
        self.init(EntryState(root.map(StoredValue.dictionary)), of: instance)
    }

    override func revision(of root: String, for instance: AnyObject, in roots: Roots) -> Revision? {
        instance === self.instance ? nil : super.revision(of: root, for: instance, in: roots)
    }

    /// The state that the thread's reads of an instance see; nil if they see what is stored.
    static func current(of instance: RootInstance) -> PreviousStateRead? {
        guard let innermost = ReadContext.current else { return nil }
        return innermost.first { $0.instance === instance }
    }
}
