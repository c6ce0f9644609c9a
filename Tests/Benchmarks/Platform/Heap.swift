enum Heap {
    /// The bytes that are in use after the closure, and not before it, while what it gives is alive.
    static func growth<Kept>(_ body: () throws -> Kept) throws -> Double {
        let before = try used()
        let kept = try body()
        let after = try used()
        withExtendedLifetime(kept) {}
        return Double(after - before)
    }
}
