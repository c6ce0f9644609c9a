#if canImport(ObjectiveC)
    public import Foundation

    // Type-checked only; it has never run. It relies on documented behavior, on Swift giving a stored property an
    // instance variable of its name, and on `addObserver` being called for longer key paths that contain this object,
    // too.

    /// Key-value observing of ``values`` and of the `@objc dynamic` accessors of a subclass.
    ///
    /// Observers are notified once per change, after the commit: on the thread that made the change or, for a change
    /// made elsewhere, on the main queue. The automatic notification of setters is off for accessors, because it would
    /// come before the commit of an update, also of an update that is rolled back, and a second time after it.
    /// Properties that are stored in the instance itself keep the automatic notification. For an accessor that shows
    /// something other than stored values, override `automaticallyNotifiesObservers(forKey:)`, or call
    /// `willChangeValue(forKey:)` and `didChangeValue(forKey:)` yourself. Key paths through ``values`` (`values.theme`)
    /// cannot be observed, because each read returns another dictionary.
    extension PersistentPrefs {
        /// Adds an observer. The first observer starts the observation of the root, which ends when the instance is
        /// released.
        open override func addObserver(
            _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
            context: UnsafeMutableRawPointer?
        ) {
            state.addObservedKey(Self.firstKey(of: keyPath))
            state.bridge.subscribe(to: self)
            super.addObserver(observer, forKeyPath: keyPath, options: options, context: context)
        }

        /// Whether setters notify automatically. True only for properties that are stored in the instance.
        open override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
            key.withCString { class_getInstanceVariable(self, $0) } != nil
                && super.automaticallyNotifiesObservers(forKey: key)
        }

        /// Notifies key-value observers around the body of a committed change. If they read values in the first
        /// notification, they read the old ones.
        func tellKeyValueObservers(of change: PendingChange, in root: Root, _ body: () -> Void) {
            guard observationInfo != nil else { return body() }
            var outcome = AccessOutcome(of: state)
            let view = try? root.view(&outcome)
            if let warning = outcome.warning { report(warning) }
            let entry = EntryState(view?.entry, in: view?.layers.map { LayersOfRoot($0, of: root.key) })
            let (now, past) = (PastState(entry, of: state), PastState(change.former(of: entry), of: state))
            let changed = observedAccessors.filter { name in
                let old = past.asCurrent { value(forKey: name) } as? NSObject
                let new = now.asCurrent { value(forKey: name) }
                return !(old?.isEqual(new) ?? (new == nil))
            }
            let names = ["values"] + changed
            past.asCurrent { names.forEach { willChangeValue(forKey: $0) } }
            body()
            names.reversed().forEach { didChangeValue(forKey: $0) }
        }

        /// The accessors that do not notify by themselves and are observed, or have an observed dependent property.
        private var observedAccessors: [String] {
            let type = type(of: self)
            var names: Set<String> = []
            var seen: Set<String> = []
            var rest = state.observedKeys
            while let name = rest.popFirst() {
                guard seen.insert(name).inserted else { continue }
                // An observer of a dependent property is notified when its sources are.
                let sources = type.keyPathsForValuesAffectingValue(forKey: name)
                rest.formUnion(sources.map(Self.firstKey))
                if sources.isEmpty { names.insert(name) }
            }
            return names.filter {
                $0 != "values" && responds(to: NSSelectorFromString($0))
                    && !type.automaticallyNotifiesObservers(forKey: $0)
            }.sorted()
        }

        private static func firstKey(of keyPath: String) -> String {
            String(keyPath.prefix { $0 != "." })
        }
    }
#else
    extension PersistentPrefs {
        /// Key-value observing does not exist on this platform.
        func tellKeyValueObservers(of change: PendingChange, in root: Root, _ body: () -> Void) {
            body()
        }
    }
#endif
