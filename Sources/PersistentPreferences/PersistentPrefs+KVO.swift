#if canImport(ObjectiveC)
#else
    extension PersistentPrefs {
        /// There is no key-value observing here.
        func tellKeyValueObservers(of change: PendingChange, _ body: () -> Void) {
            body()
        }
    }
#endif
