#if canImport(Darwin)
    extension LockHolder {
        /// No interface tells who holds a lock of `flock`.
        static func all(of path: String) -> [LockHolder] { [] }
    }
#endif
