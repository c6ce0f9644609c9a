import Testing

@testable import HarnessCLI

@Suite struct EditorKeyTests {
    @Test func x() { #expect("a\n".printable == "a\\n") }
}
