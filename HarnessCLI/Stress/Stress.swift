/// Has threads and processes write at once, and counts what was lost.
struct Stress {
    private let plan: StressPlan
    private let wantsJSON: Bool

    init(_ plan: StressPlan, wantsJSON: Bool) {
        self.plan = plan
        self.wantsJSON = wantsJSON
    }

    func run() -> Outcome { Outcome() }
}
