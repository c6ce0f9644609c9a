import Foundation
import Testing

@testable import PersistentPreferences
@testable import PrefsSettingsFiles

private struct Outer {
    struct Inner {}
    struct Box<Value> {}
}

private struct Box<Value> {}

@Suite struct SettingsNameTests {
    @Test func aFileIsNamedAfterItsType() {
        struct Local {}
        #expect(SettingsFileName.name(of: AppSettings.self) == "AppSettings")
        #expect(SettingsFileName.name(of: Outer.Inner.self) == "Outer.Inner")
        #expect(SettingsFileName.name(of: Local.self).hasSuffix("Local"))
        #expect(SettingsFileName.name(of: Box<Int>.self) == "Box%3CInt%3E")
        #expect(SettingsFileName.name(of: Outer.Box<[String: Outer.Inner]>.self).hasPrefix("Outer.Box%3C"))
    }

    @Test func namesAreSafeAndDistinct() {
        typealias Long = Box<Box<Box<Box<Box<Box<Box<Box<Box<Box<Box<Box<Box<Int>>>>>>>>>>>>>
        let types: [Any.Type] = [
            AppSettings.self, Outer.Inner.self, Box<Int>.self, Box<String>.self, Box<Box<Int>>.self,
            Outer.Box<Int>.self, Box<(Int, String)>.self, Box<[Int]>.self, Box<[String: Int]>.self, Long.self,
            Box<Long>.self, Box<AppSettings>.self, Box<Outer.Inner>.self,
        ]
        let names = types.map(SettingsFileName.name)
        #expect(Set(names).count == names.count)
        for name in names {
            #expect(name.utf8.count <= 200 && !name.contains("/") && !name.hasPrefix("."))
        }
    }
}
