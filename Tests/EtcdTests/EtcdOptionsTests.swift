import Foundation
import PersistentPreferences
import PrefsEtcd
import Testing

@Suite struct EtcdOptionsTests {
    @Test func noPasswordIsShown() throws {
        let options = EtcdStore.Options(user: "ann", password: "hunter2")
        let server = try #require(URL(string: "http://127.0.0.1:1"))
        let store = EtcdStore(endpoints: [server], options: options)
        let ofURL = try EtcdStore(url: "etcd://ann:hunter2@127.0.0.1:1/a/")
        let values: [Any] = [
            options, store, store.store, ofURL, PrefsStore.etcd(endpoints: [server], options: options),
        ]
        for value in values {
            var text = "\(value) \(String(reflecting: value))"
            dump(value, to: &text)
            #expect(!text.contains("hunter2"), "\(text)")
        }
        #expect("\(options)".contains("ann"))
    }
}
