#if os(Linux) || os(Android)
    import Foundation

    extension Heap {
        private typealias Describe = @convention(c) (Int32, UnsafeMutableRawPointer) -> Int32

        /// The bytes that malloc has allocated, from the description that glibc writes. Swift does not import its
        /// header.
        static func used() throws -> Int {
            guard let symbol = dlsym(nil, "malloc_info") else { throw Unavailable("malloc tells nothing of itself") }
            let describe = unsafeBitCast(symbol, to: Describe.self)
            var text: UnsafeMutablePointer<CChar>?
            var count = 0
            guard let stream = open_memstream(&text, &count) else { throw Unavailable("no memory for a stream") }
            _ = describe(0, UnsafeMutableRawPointer(stream))
            fclose(stream)
            defer { free(text) }
            let lines = text.map { String(cString: $0) }?.split(separator: "\n") ?? []
            // The last element of each kind is the sum over all arenas.
            func size(_ beginning: String) -> Int {
                let line = lines.last { $0.hasPrefix(beginning) }
                return line?.split(separator: "size=\"").last.flatMap { Int($0.prefix { $0.isNumber }) } ?? 0
            }
            return size("<system type=\"current\"") + size("<total type=\"mmap\"") - size("<total type=\"fast\"")
                - size("<total type=\"rest\"")
        }
    }
#endif
