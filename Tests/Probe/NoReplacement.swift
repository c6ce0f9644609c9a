import PersistentPreferences

/// A replacement of stores that replaces none, for the program "before-tests".
final class NoReplacement: StoreReplacement {
    func isRunning(_ roots: Roots) -> Bool { false }
    func roots(inPlaceOf own: Roots) -> Roots? { nil }
    func noteDefaultDomain() {}
}
