/// Explains the state of a domain's file.
enum Doctor {
    static func run(_ place: Place, wantsJSON: Bool) throws -> Outcome { Outcome() }
}
