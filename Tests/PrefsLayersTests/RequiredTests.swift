import Foundation
import PrefsJSON
import PrefsLayers
import PrefsStoreKit
import Testing
import TestSupport

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsSupport

/// `@Pref(.required)`: a missing value is a problem, and nothing else.
@Suite(.waits) struct RequiredTests {
    enum Mode: String { case fast, slow }

    final class ServicePrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.required, .length(1...8)) var token: String?
        @Pref var port = 80
    }

    final class ManyPrefs: PersistentPrefs, @unchecked Sendable {
        @Pref(.required) var mode: Mode?
        @Pref("the-key", .required, .formerly("old")) var renamed: Int?
        @Pref(.required) var given: Int? = 5
        @Pref(.required, .sensitive) var secret: String?
    }

    private let folder = TemporaryFolder.fresh
    private var base: URL { folder.file("base.json") }
    private var layer: URL { folder.file("layer.json") }

    private func prefs(_ variables: [String: String] = [:], _ arguments: String...) -> ServicePrefs {
        ServicePrefs(
            store: .layered(
                PrefsStore.json(url: base),
                above: [.arguments(["app"] + arguments), .environment(prefix: "APP_", in: variables)],
                below: [.file(layer)]))
    }

    private func texts(_ prefs: PersistentPrefs) -> [String] { prefs.problems().map(\.description) }

    private func write(_ text: String, to url: URL) throws { try Data(text.utf8).write(to: url) }

    private static let missing = "token: is required, and has no value; set --token or APP_TOKEN"

    @Test func aMissingValueIsAProblemThatSaysHowToSetIt() throws {
        let prefs = prefs()
        let problem = try #require(prefs.problems().first)
        #expect(texts(prefs) == [Self.missing])
        #expect(problem.kind == .missing && problem.source == .stored)
        #expect(problem.path == "token" && problem.topLevelKey == "token")
        #expect(problem.error == .problem(problem) && problem.error.isWarning)
        // It rejects nothing, and no access meets it.
        #expect(prefs.token == nil && prefs.lastError == nil)
        #expect(prefs.$port.set(81) == nil && prefs.lastError == nil)
        #expect(texts(ServicePrefs(store: .memory())) == ["token: is required, and has no value"])
    }

    /// A layer that cannot be read is a problem beside it.
    @Test func aBrokenLayerHidesNoMissingValue() throws {
        try write("hello", to: layer)
        let found = texts(prefs())
        #expect(found.count == 2 && found.last == Self.missing, "\(found)")
    }

    /// Each place that may have the value.
    @Test func aValueAnywhereIsEnough() throws {
        #expect(texts(prefs(["APP_TOKEN": "a"])) == [])
        #expect(texts(prefs([:], "--token", "a")) == [])
        try write(#"{"token": "a"}"#, to: layer)
        #expect(texts(prefs()) == [])
        try write("{}", to: layer)
        #expect(texts(prefs()) == [Self.missing])
        prefs().token = "a"
        #expect(texts(prefs()) == [])
        prefs().$token.reset()
        #expect(texts(prefs()) == [Self.missing])
    }

    /// What is there and does not fit is one problem, not two.
    @Test func aValueThatDoesNotFitIsNotMissing() throws {
        try write(#"{"token": 5}"#, to: base)
        #expect(texts(prefs()) == ["token: expected String, found an integer"])
        try write("{}", to: base)
        #expect(
            texts(prefs(["APP_TOKEN": "too long a token"])) == [
                "APP_TOKEN: environment: must be 1...8 characters long, found \"too long a token\""
            ])
        // An empty variable is nil.
        #expect(texts(prefs(["APP_TOKEN": ""])) == [Self.missing])
        try write(#"{"token": 5}"#, to: layer)
        #expect(texts(prefs()) == ["token in \(layer.path): expected String, found an integer"])
    }

    @Test func ifTheRootCannotBeReadNothingIsMissing() throws {
        try write("{x", to: base)
        #expect(prefs().problems().map(\.kind) == [.store])
        // Neither in the state that is read in its place.
        try FileManager.default.removeItem(at: base)
        prefs().port = 81
        try write("{x", to: base)
        let prefs = prefs()
        #expect(prefs.port == 81 && prefs.problems().map(\.kind) == [.store])
        try write("{}", to: base)
        #expect(texts(prefs) == [Self.missing])
    }

    @Test func everyKindOfOptionalMayBeRequired() throws {
        let store = PrefsStore.memory()
        let prefs = ManyPrefs(store: store)
        let ends = ": is required, and has no value"
        #expect(texts(prefs) == ["mode" + ends, "secret" + ends, "the-key" + ends])
        #expect(prefs.given == 5, "a default is a value")
        try store.update(root: "ManyPrefs") { $0 = ["old": 3, "mode": "fast", "secret": "x"] }
        #expect(prefs.renamed == 3 && prefs.mode == .fast)
        #expect(texts(prefs) == [])
        // In JSON, nil in place of a default is a null.
        let file = ManyPrefs(store: .json(url: base))
        file.given = nil
        #expect(file.given == nil)
        #expect(texts(file) == ["given" + ends, "mode" + ends, "secret" + ends, "the-key" + ends])
    }

    @Test func aHandlerIsToldOnce() throws {
        let prefs = prefs()
        let (first, second) = (Heard<String>(), Heard<String>())
        let errors = [prefs.onError { first.append("\($0)") }, prefs.onError { second.append("\($0)") }]
        #expect(first.all == [Self.missing] && second.all == [Self.missing])
        _ = (prefs.token, prefs.values, prefs.port)
        prefs.port = 82
        #expect(first.all == [Self.missing] && second.all == [Self.missing])
        errors.forEach { $0.cancel() }
    }

    /// Also if a write of this process removes the value, and not only one of another program.
    @Test(arguments: [false, true]) func aHandlerIsToldWhenTheValueGoes(_ isForeign: Bool) throws {
        prefs().token = "a"
        let prefs = prefs()
        let told = Heard<String>()
        let errors = prefs.onError { told.append("\($0)") }
        #expect(told.all == [])
        for round in 1...3 {
            if isForeign { try write("{}", to: base) } else { prefs.token = nil }
            #expect(told.wait(for: round) == Array(repeating: Self.missing, count: round))
            if isForeign { try write(#"{"token": "b"}"#, to: base) } else { prefs.token = "b" }
            expectEventually(prefs.state.errorHandlers?.hasTold, is: false)
            #expect(prefs.problems() == [])
        }
        errors.cancel()
    }
}
