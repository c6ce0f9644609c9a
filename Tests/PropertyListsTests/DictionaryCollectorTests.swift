import Testing

@testable import PrefsPropertyLists

/// Keys that a Swift dictionary considers equal.
@Suite struct DictionaryCollectorTests {
    /// U+212A is equal to the letter K, in both orders. Neither is a doubled key.
    @Test(arguments: [["K", "\u{212A}"], ["\u{212A}", "K"]]) func anASCIIKeyMayHaveASecondSpelling(_ keys: [String]) {
        var collector = DictionaryCollector()
        for key in keys {
            let isNew = collector.add(key, .integer(1), .firstCounts)
            #expect(isNew)
        }
        #expect(collector.loss != nil && collector.members.count == 1)
        let isNewAgain = collector.add(keys[0], .integer(2), .firstCounts)
        #expect(!isNewAgain)
    }
}
