#if canImport(Darwin)
    extension LockHolder {
        /// Apple platforms have no interface that names the holder of an `flock` lock.
        package static func all(of path: String) -> [LockHolder] { [] }
    }
#endif
