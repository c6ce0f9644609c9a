import PrefsFileEngine
import PrefsPropertyLists

/// What the reads of one thread see in place of the current state while a closure runs. Writes start from what is
/// stored.
class SeenState {
    private var outer: SeenState?
    private static let threads = ThreadLocal()

    /// The innermost one of this thread.
    static var current: SeenState? {
        threads.value.map { Unmanaged<SeenState>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs the closure with this as the thread's innermost one. Called once for each object.
    func asCurrent<R>(_ body: () throws -> R) rethrows -> R {
        outer = Self.current
        Self.threads.value = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        defer { Self.threads.value = outer.map { UnsafeRawPointer(Unmanaged.passUnretained($0).toOpaque()) } }
        return try body()
    }

    /// The first one of a kind, from this one outwards.
    func first<Kind: SeenState>(where isMatch: (Kind) -> Bool) -> Kind? {
        var place: SeenState? = self
        while let seen = place {
            if let kind = seen as? Kind, isMatch(kind) { return kind }
            place = seen.outer
        }
        return nil
    }

    /// The revision of a root that the reads of an instance see: nil if they do not see this state, and nil inside if
    /// only the read shows it.
    func revision(of root: String, for state: InstanceState, in roots: Roots) -> Revision?? { nil }

    /// As `revision(of:for:in:)`, of the innermost one from this one outwards that has an answer.
    @inline(never)
    final func innermostRevision(of root: String, for state: InstanceState) -> Revision? {
        let roots = state.roots
        var place: SeenState? = self
        while let seen = place {
            if let known = seen.revision(of: root, for: state, in: roots) { return known }
            place = seen.outer
        }
        return roots.revision(of: root)
    }

    /// The state of a part of a domain.
    func state(of part: DomainPart, in domain: any Domain) throws -> DomainState {
        try outer?.state(of: part, in: domain) ?? domain.state(of: part, isForWriting: false)
    }

    /// The kept state of layers; nil if reads see the current one.
    func layers(of layers: any RootLayers) -> (any RootLayersSnapshot)? { outer?.layers(of: layers) }
}

extension InstanceState {
    /// The revision of the root that a read of this thread sees; nil if only the read shows.
    @inline(__always)
    func revisionSeen(of root: String) -> Revision? {
        guard let seen = SeenState.current else { return roots.revision(of: root) }
        return seen.innermostRevision(of: root, for: self)
    }
}
