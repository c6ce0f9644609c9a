/// Says what is wrong with a property-list file.
enum Vetting {
    static func run(_ path: String, wantsJSON: Bool) -> Outcome { Outcome() }
}
