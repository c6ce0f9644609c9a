import PrefsFileEngine

/// The state of one root, with the layers around it, that all reads inside `PersistentPrefs.read` see.
final class KeptRead: SeenState {
    private let key: String
    private let roots: Roots
    private let domain: any Domain
    private var source: AnyObject
    private var layers: (any RootLayersSnapshot)?
    /// The parts of the domain that the first read needed: the root, and former roots that it may be in.
    private var parts: [String: Result<DomainState, any Error>] = [:]
    /// The revision of the state, if a read of it reports nothing.
    private(set) var revision: Revision?
    private var isBeginning = true

    init(of key: String, in roots: Roots, _ domain: any Domain) {
        (self.key, self.roots, self.domain, source) = (key, roots, domain, domain.source)
    }

    /// The read that has kept the state of a root on this thread.
    static func current(of key: String, in roots: Roots) -> KeptRead? {
        SeenState.current?.first { $0.keeps(key, in: roots) }
    }

    private func keeps(_ key: String, in roots: Roots) -> Bool {
        self.key == key && (self.roots === roots || self.roots.layers === roots.layers && isOf(roots.domain))
    }

    override func revision(of root: String, for state: InstanceState, in roots: Roots) -> Revision?? {
        keeps(root, in: roots) ? .some(revision) : nil
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
        return other === domain || other.source === source
    }

    override func state(of part: DomainPart, in domain: any Domain) throws -> DomainState {
        guard isBeginning else {
            if let known = parts[part.name], isOf(domain) { return try known.get() }
            return try super.state(of: part, in: domain)
        }
        let found = Result { try super.state(of: part, in: domain) }
        // A store of another module may read a store of this package.
        if domain === self.domain { parts[part.name] = found.map(\.withoutNews) }
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
        return DomainState(content, isWhole: isWhole, revision: revision, form: form)
    }
}
