import PrefsPropertyLists

/// Replaces the stores of instances in a program that runs tests. It does not exist in other programs.
package protocol StoreReplacement: DefaultDomainRecorder {
    /// Whether the roots belong to a test that has not ended.
    func isRunning(_ roots: Roots) -> Bool
    /// The roots of an access outside of every `withStore`.
    ///
    /// - Parameter own: the roots of the instance, of its class or of a test, which may have ended.
    /// - Returns: nil if the access uses `own`.
    func roots(inPlaceOf own: Roots) -> Roots?
}

/// The replacement of this process.
package enum StoreReplacements {
    private static let installed = Locked<(any StoreReplacement)?>(nil)

    /// Set once, by the first instance or default store of the process, so that accesses need no synchronization.
    static let current = installed.withLock { $0 }

    private static let earlier = Locked<String?>(nil)

    /// The class of the first instance that was created before a replacement was installed, so that accesses of such
    /// classes are not replaced.
    package static var earlierClass: String? { earlier.withLock { $0 } }

    /// The replacement for a new instance.
    static func current(for prefs: AnyObject) -> (any StoreReplacement)? {
        if current == nil { earlier.withLock { $0 = $0 ?? "\(type(of: prefs))" } }
        return current
    }

    /// - Returns: false if an instance or the default store was created before. In that case the call has no effect.
    package static func install(_ replacement: any StoreReplacement) -> Bool {
        installed.withLock { $0 = replacement }
        return current === replacement
    }
}
