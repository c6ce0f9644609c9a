#if os(Linux) || os(Android)
    /// The end of a thread, and of a process that one of its threads ends by `exit`.
    package enum ThreadEnd {
        /// Calls a function when this thread ends. If the thread calls `exit`, calls the function before the `atexit`
        /// handlers, which run on this thread. C++ calls the destructors of thread-local objects in this way. With
        /// musl, `exit` does not run them, and this function does nothing.
        package static func register(_ function: @escaping @convention(c) (UnsafeMutableRawPointer?) -> Void) {
            #if !canImport(Musl)
                _ = registerDestructor(function, nil, #dsohandle)
            #endif
        }
    }

    #if !canImport(Musl)
        // The C library has this function for C++; no header declares it.
        @_silgen_name("__cxa_thread_atexit_impl")
        private func registerDestructor(
            _ function: @convention(c) (UnsafeMutableRawPointer?) -> Void, _ object: UnsafeMutableRawPointer?,
            _ library: UnsafeRawPointer?
        ) -> Int32
    #endif
#endif
