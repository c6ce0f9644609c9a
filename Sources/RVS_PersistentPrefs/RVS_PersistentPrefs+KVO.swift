#if canImport(ObjectiveC)
    public import Foundation
    import PersistentPreferences
    import PrefsFileEngine
    import PrefsPropertyLists

    // Type-checked only; it has never run. It relies on documented behavior and on two assumptions: Swift gives a
    // stored property an instance variable of its name, and `addObserver` is also called for this object in the middle
    // of a longer key path.

    /// Key-value observing of ``values`` and of the `@objc dynamic` accessors of a subclass.
    ///
    /// Observers are notified once per change, after the commit: on the thread that made the change or, for a change by
    /// another process, on the main queue.
    ///
    /// Setters of accessors do not notify by themselves. They would notify before the commit, which may be rolled back,
    /// and again after it. Setters of properties that are stored in the instance itself do notify. If an accessor shows
    /// something other than stored values, override `automaticallyNotifiesObservers(forKey:)`, or call
    /// `willChangeValue(forKey:)` and `didChangeValue(forKey:)` yourself.
    ///
    /// Key paths through ``values``, such as `values.theme`, cannot be observed, because each read returns another
    /// dictionary.
    extension RVS_PersistentPrefs {
        /// Adds an observer. The first observer starts the observation of the root, which ends when the instance is
        /// released.
        open override func addObserver(
            _ observer: NSObject, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
            context: UnsafeMutableRawPointer?
        ) {
            keyValueObserved.withLock { _ = $0.insert(Self.firstKey(of: keyPath)) }
            announceChanges { [weak self] change, announce in
                guard let self else { return announce() }
                notifyKeyValueObservers(of: change, announce)
            }
            super.addObserver(observer, forKeyPath: keyPath, options: options, context: context)
        }

        /// Whether the setter of a key notifies by itself. True only for a property that is stored in the instance.
        open override class func automaticallyNotifiesObservers(forKey key: String) -> Bool {
            key.withCString { class_getInstanceVariable(self, $0) } != nil
                && super.automaticallyNotifiesObservers(forKey: key)
        }

        /// Notifies key-value observers of a committed change: "will change", the body, "did change". In the first
        /// notification, observers read the old values, although the new ones are stored.
        private func notifyKeyValueObservers(of change: EntryChange, _ body: () -> Void) {
            guard observationInfo != nil else { return body() }
            let changed = observedAccessors.filter { name in
                let old = reading(change.before) { value(forKey: name) } as? NSObject
                let new = reading(change.after) { value(forKey: name) }
                return !(old?.isEqual(new) ?? (new == nil))
            }
            let names = ["values"] + changed
            reading(change.before) { names.forEach { willChangeValue(forKey: $0) } }
            body()
            names.reversed().forEach { didChangeValue(forKey: $0) }
        }

        /// The accessors to notify for: those that do not notify by themselves, and that an observer needs directly or
        /// through a dependent property (`keyPathsForValuesAffectingValue`).
        private var observedAccessors: [String] {
            let type = type(of: self)
            var names: Set<String> = []
            var seen: Set<String> = []
            var rest = keyValueObserved.withLock { $0 }
            while let name = rest.popFirst() {
                guard seen.insert(name).inserted else { continue }
                // A dependent property needs no notification of its own: its observers hear of its sources.
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
#endif
