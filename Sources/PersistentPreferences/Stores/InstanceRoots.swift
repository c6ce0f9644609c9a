import PrefsPropertyLists

/// The store that replaces the stores of instances in this task.
package enum StoreOverride {
    @TaskLocal package static var innermost: Roots?
}

/// What an instance keeps of its store: the roots that its accesses use, of the store that it was created with or of one
/// that replaces it.
///
/// The state of an instance is one object, because a part that is an object of its own costs each read 40 instructions. So
/// each floor adds its part in a subclass, and names only the class of its own floor.
///
/// Unchecked because the initializer of the instance assigns the variables before any other thread has it.
package class InstanceRoots: @unchecked Sendable {
    private var startRoots: Roots?
    /// Chooses the store at each access; nil if the store is fixed.
    private var choice: StoreChoice?
    /// Whether `withStore` may replace the store.
    private var isReplaceable = false
    /// nil unless `PrefsTesting` may replace the store, too.
    private var testProcess: (any StoreReplacement)?
    /// Whether the store belongs to a test, which may have ended.
    private var isOfTest = false
    /// The instance; nil once it is being released.
    private weak var storeOwner: (any StoreOwner)?

    init() {}

    /// Called once, before any other thread has the instance.
    ///
    /// - Parameter store: the store that was passed to the initializer.
    func start(_ owner: any StoreOwner, in store: PrefsStore?) {
        storeOwner = owner
        var choice: StoreChoice?
        if case .choice(let own) = store?.purpose { choice = own }
        isReplaceable = store == nil || choice != nil
        if let store, choice == nil {
            startRoots = store.roots
        } else if let innermost = StoreOverride.innermost {
            startRoots = innermost
            let process = StoreReplacements.current(for: owner)
            if process?.isRunning(innermost) == true { (testProcess, isOfTest) = (process, true) }
        } else {
            if let roots = choice?.fixedRoots(of: owner) {
                startRoots = roots
            } else {
                startRoots = ClassStores.store(of: type(of: owner)).roots
                self.choice = choice
            }
            testProcess = StoreReplacements.current(for: owner)
        }
    }

    /// Starts with roots that nothing replaces.
    func start(_ owner: any StoreOwner, fixed roots: Roots) {
        (storeOwner, startRoots) = (owner, roots)
    }

    /// The roots of the store of an access that begins now.
    package var roots: Roots { replacement ?? ownRoots }

    /// The roots that replace the instance's own in an access that begins now, if any.
    var replacement: Roots? {
        guard isReplaceable else { return nil }
        if let innermost = StoreOverride.innermost { return innermost }
        guard let testProcess else { return nil }
        if let roots = testProcess.roots(inPlaceOf: ownRoots) { return roots }
        // An instance that is used in another test after the test that created it has ended.
        guard isOfTest, let owner = storeOwner, !testProcess.isRunning(ownRoots) else { return nil }
        return ClassStores.store(of: type(of: owner)).roots
    }

    /// The roots of the store that the instance was created with, or that it chooses now.
    var ownRoots: Roots {
        guard let startRoots else { preconditionFailure("the instance is used before its initializer has run") }
        guard let choice else { return startRoots }
        return choice.roots(of: storeOwner)
    }
}
