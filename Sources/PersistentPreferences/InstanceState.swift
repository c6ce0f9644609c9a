import PrefsPropertyLists

/// The state of an instance: what each floor keeps of it, and the properties by key path.
///
/// Unchecked because the lock guards the variables.
package final class InstanceState: InstanceObservers, @unchecked Sendable {
    let bridge = ObservationBridge()
    private var handlers: ErrorHandlers?
    /// The properties in their class, by the key path of the wrapper: reading a wrapper by its key path costs 700
    /// instructions. nil until one is accessed. A pointer, as in `Locked`.
    private(set) var properties: UnsafeMutablePointer<KeyPathTable>?

    deinit {
        properties?.deinitialize(count: 1)
        properties?.deallocate()
    }

    /// Called once, by the initializer, before any other thread has the instance.
    ///
    /// - Parameters:
    ///   - key: the root key; nil stands for the name of the class.
    ///   - store: the store that was passed to the initializer.
    /// - Returns: `PrefsError.problem` for the first instance of a class that shares its root by mistake.
    func start(
        _ owner: any RootOwner & DeclaringClass, key: String?, store: PrefsStore?
    ) -> PrefsError? {
        let (declarations, isNew) = ClassDeclarations.of(owner)
        // Uses the known name, because the runtime's lock for names may stay locked in a forked child.
        let key = key ?? declarations.ownRoot
        start(owner, key: key, declarations)
        start(owner, in: store)
        return declarations.isFirstUse(of: key) || isNew
            ? SharedRoots.register(type(of: owner), declarations, root: key, in: ownRoots) : nil
    }

    /// Starts an instance that has only this property. Reads nothing.
    func start(_ owner: any RootOwner, key: String?, _ property: any DeclaredProperty, in roots: Roots) {
        start(owner, fixed: roots)
        start(owner, key: key ?? "", ClassDeclarations(of: property))
    }

    /// The property of a wrapper, a `PrefProperty`, if it was found by this key path before.
    func property(at storage: AnyKeyPath) -> AnyObject? { lock.withLock { properties?.pointee[storage] } }

    func note(_ property: AnyObject, at storage: AnyKeyPath) {
        // A generic class makes its key paths anew at each access.
        let limit = 4 * declarations.declarations.count
        lock.withLock {
            let table = properties ?? .allocate(capacity: 1)
            if properties == nil { table.initialize(to: KeyPathTable()) }
            properties = table
            table.pointee.add(property, at: storage, limit: limit)
        }
    }

    /// The closures of `onError`; nil as long as there was none.
    var errorHandlers: ErrorHandlers? { lock.withLock { handlers } }

    func makeErrorHandlers() -> ErrorHandlers {
        let all = lock.withLock {
            let all = handlers ?? ErrorHandlers()
            handlers = all
            return all
        }
        listenToFaults(all)
        return all
    }
}

// MARK: - Properties by key path

/// Objects by the address of a key path, which it keeps alive.
struct KeyPathTable {
    /// The addresses, in a power of two of places, of which at most half are used.
    private var addresses: [UnsafeRawPointer?] = []
    /// The objects, in the same places.
    private var objects: [AnyObject?] = []
    private var paths: [AnyKeyPath] = []

    @inline(__always)
    subscript(path: AnyKeyPath) -> AnyObject? {
        if addresses.isEmpty { return nil }
        let address = Self.address(of: path)
        let place = place(of: address)
        return addresses[place] == address ? objects[place] : nil
    }

    /// - Parameter limit: the most objects; the same at each call.
    mutating func add(_ object: AnyObject, at path: AnyKeyPath, limit: Int) {
        guard paths.count < limit, self[path] == nil else { return }
        if addresses.isEmpty {
            var size = 2
            while size < 2 * limit { size *= 2 }
            (addresses, objects) = (Array(repeating: nil, count: size), Array(repeating: nil, count: size))
        }
        let address = Self.address(of: path)
        let place = place(of: address)
        (addresses[place], objects[place]) = (address, object)
        paths.append(path)
    }

    /// The place of an address, or the one that it would get.
    @inline(__always)
    private func place(of address: UnsafeRawPointer) -> Int {
        // Addresses of objects are multiples of 16.
        var place = Int(bitPattern: address) >> 4 & (addresses.count - 1)
        while let other = addresses[place], other != address { place = (place + 1) & (addresses.count - 1) }
        return place
    }

    @inline(__always)
    private static func address(of path: AnyKeyPath) -> UnsafeRawPointer {
        UnsafeRawPointer(Unmanaged.passUnretained(path).toOpaque())
    }
}
