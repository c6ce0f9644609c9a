#if canImport(Darwin)
    import Darwin

    extension Heap {
        /// The bytes that malloc has allocated.
        static func used() throws -> Int {
            var statistics = malloc_statistics_t()
            malloc_zone_statistics(nil, &statistics)
            return Int(statistics.size_in_use)
        }
    }
#endif
