#if canImport(Darwin)
    /// The end of a thread, and of a process that one of its threads ends by `exit`.
    package enum ThreadEnd {
        /// Calls a function when this thread ends. If the thread calls `exit`, calls the function before the `atexit`
        /// handlers, which run on this thread. C++ calls the destructors of thread-local objects in this way.
        package static func register(_ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void) {
            registerDestructor(function, nil)
        }
    }

    // The system has this function for C++; no header declares it.
    @_silgen_name("_tlv_atexit")
    private func registerDestructor(
        _ function: @convention(c) (UnsafeMutableRawPointer?) -> Void, _ object: UnsafeMutableRawPointer?)
#endif
