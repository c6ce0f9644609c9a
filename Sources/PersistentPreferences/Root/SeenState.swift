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
        SeenState.current == nil ? roots.revision(of: root) : revisionInside(of: root)
    }

    /// Not inlined, because it would cost every read.
    @inline(never)
    private func revisionInside(of root: String) -> Revision? {
        if PastState.current(of: self) != nil { return nil }
        let roots = roots
        guard let kept = KeptRead.current(of: root, in: roots) else { return roots.revision(of: root) }
        return kept.revision
    }
}
