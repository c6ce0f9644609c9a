import PrefsFileEngine
import PrefsPropertyLists

/// What the reads of one thread see in place of the current state while a closure runs. Writes start from what is
/// stored.
class ReadContext {
    private var outer: ReadContext?

    /// The innermost one of this thread.
    static var current: ReadContext? {
        ThreadState.reads.map { Unmanaged<ReadContext>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Runs the closure with this as the thread's innermost one. Called once for each object.
    func asCurrent<R>(_ body: () throws -> R) rethrows -> R {
        defer { withExtendedLifetime(self) {} }
        return try inside(.current).run(body)
    }

    /// Runs the closure as `asCurrent(_:)` does, and rejects every write meanwhile.
    ///
    /// - Parameter beginning: runs before the body.
    func rejectingWrites<R>(beginning: () -> Void = {}, _ body: () throws -> R) rethrows -> R {
        defer { withExtendedLifetime(self) {} }
        return try inside(.current.rejectingWrites).run(beginning: beginning, body)
    }

    /// A state of the thread with this as the innermost one.
    private func inside(_ state: ThreadState) -> ThreadState {
        var state = state
        outer = Self.current
        state.reads = UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque())
        return state
    }

    /// The first one of a kind, from this one outwards.
    func first<Kind: ReadContext>(where isMatch: (Kind) -> Bool) -> Kind? {
        var place: ReadContext? = self
        while let seen = place {
            if let kind = seen as? Kind, isMatch(kind) { return kind }
            place = seen.outer
        }
        return nil
    }

    /// The revision of a root that a read of this thread sees; nil if only the read shows it.
    @inline(__always)
    static func revision(of root: String, for instance: AnyObject, in roots: @autoclosure () -> Roots) -> Revision? {
        guard let innermost = ThreadState.reads else { return roots().revision(of: root) }
        // Its closure keeps it alive.
        return Unmanaged<ReadContext>.fromOpaque(innermost)._withUnsafeGuaranteedRef {
            $0.revision(of: root, for: instance, in: roots())
        }
    }

    /// The revision of a root that the reads of an instance see; nil if only the read shows it.
    func revision(of root: String, for instance: AnyObject, in roots: Roots) -> Revision? {
        if let outer { return outer.revision(of: root, for: instance, in: roots) }
        return roots.revision(of: root)
    }

    /// The state of a part of a domain that a read of this thread sees.
    static func state(of part: DomainPart, in domain: any Domain) throws -> DomainState {
        try current?.state(of: part, in: domain) ?? domain.state(of: part, isForWriting: false)
    }

    /// The state of a part of a domain.
    func state(of part: DomainPart, in domain: any Domain) throws -> DomainState {
        try outer?.state(of: part, in: domain) ?? domain.state(of: part, isForWriting: false)
    }

    /// The kept state of layers; nil if reads see the current one.
    func layers(of layers: any RootLayers) -> (any RootLayersSnapshot)? { outer?.layers(of: layers) }
}
