enum Heap {
    /// The growth of the used bytes by the closure, while its result is alive.
    static func growth<Kept>(_ body: () throws -> Kept) throws -> Double {
        let before = try used()
        let kept = try body()
        let after = try used()
        withExtendedLifetime(kept) {}
        return Double(after - before)
    }
}
