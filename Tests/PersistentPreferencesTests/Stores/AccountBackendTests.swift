// The test of the article "Writing a store", verbatim; `DocumentationTests` compares them.

@testable import PrefsSupport
import PersistentPreferences
import PrefsStoreKit
import Testing

@Suite struct AccountBackendTests {
    @Test(arguments: StoreCheck.all + StoreCheck.observing)
    func conforms(_ check: StoreCheck) throws {
        let memory = PrefsStore.memory()
        try check.run { AccountBackend(account: "ann", in: memory) }
    }
}
