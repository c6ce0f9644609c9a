// The test of the article "Writing a store", verbatim; `DocumentationTests` compares them.

@testable import PrefsSupport
import PersistentPreferences
import PrefsTesting
import Testing

@Suite struct AccountStoreTests {
    @Test(arguments: StoreCheck.all + StoreCheck.observing)
    func conforms(_ check: StoreCheck) throws {
        let memory = InMemoryStore()
        try check.run { AccountStore(account: "ann", in: memory) }
    }
}
