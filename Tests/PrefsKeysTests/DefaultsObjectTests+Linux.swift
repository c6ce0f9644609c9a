#if os(Linux) || os(Android)
    import Foundation
    import Testing

    @testable import PersistentPreferences
    @testable import PrefsKeys

    extension DefaultsObjectTests {
        /// Otherwise a change would start from the values of another domain.
        @Test func aSubclassHasTheDomainOfItsSuite() {
            #expect(defaults.domainName == "DefaultsObjectTests")
            #expect(UserDefaults(suiteName: "Other")?.domainName == "Other")
            #expect(UserDefaults().domainName == UserDefaults.standardDomain)
        }

        /// Foundation reads and writes real numbers with the decimal separator of the thread.
        @Test func everyCallIsInTheCLocale() {
            let own = uselocale(nil)
            #expect(Count.set(2, defaults) == nil && Count.get(defaults) == 2)
            #expect(Count.modify(in: defaults) { $0 += 1 } == nil && Count.get(defaults) == 3)
            #expect(Count.reset(defaults) == nil && Count.get(defaults) == 1)
            defaults.failure = .withoutStoring
            #expect(Count.set(4, defaults) != nil)
            #expect(
                defaults.calls == ["object", "set", "removeObject", "persistentDomain", "synchronize"])
            #expect(defaults.callsInOwnLocale == [])
            #expect(uselocale(nil) == own)
        }
    }
#endif
