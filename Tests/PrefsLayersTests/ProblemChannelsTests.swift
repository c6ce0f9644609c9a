import Foundation
import PrefsJSON
import PrefsLayers

import Testing
import TestSupport

@testable import EngineSupport
@testable import PersistentPreferences
@testable import PrefsSupport

/// One account of what is wrong: each fault × each channel, with real files.
@Suite(.waits) struct ProblemChannelsTests {
    final class ServerPrefs: PersistentPrefs, @unchecked Sendable {
        struct Listen: Codable, Equatable { var host = "localhost" }

        @Pref(.in(1...65_535)) var port = 8080
        @Pref var name = ""
        @Pref var listen = Listen()
        @Pref var since = 0

        override class var versionKey: String { "version" }
        override class var unmarkedVersion: Int { 2 }
        override class var migrations: [PrefsMigration] {
            [
                PrefsMigration(to: 2) { values in
                    if values["since"] as? String != nil { throw CocoaError(.coderInvalidValue) }
                    if let minutes = values["since"] as? Int { values["since"] = minutes * 60 }
                }
            ]
        }

        let met = Heard<String>()

        override func prefsDidFail(_ error: PrefsError) { met.append("\(error)") }
    }

    enum Place { case json, plist }

    /// A fault, and what each channel says of it.
    struct Fault: CustomTestStringConvertible {
        let testDescription: String
        var place = Place.json
        /// The text of the base file; nil for none. The other text is that of the file of a layer.
        var base: String?
        var layer: String?
        /// Whether a folder has the name of the file.
        var isFolder = false
        /// Whether a last good copy is beside the file.
        var hasCopy = false
        var variables: [String: String] = [:]
        var arguments: [String] = []
        /// The text in `problems()` and, if it is nil, in `onError`.
        let text: String
        var error: String?
        /// What a read of all keys says; nil for nothing.
        var lastError: String?

        init(_ name: String, _ text: String) { (testDescription, self.text) = (name, text) }

        func with(_ change: (inout Fault) -> Void) -> Fault {
            var fault = self
            change(&fault)
            return fault
        }
    }

    private static let unchanged = "; the file is unchanged, because it may belong to another program"
    private static let known = "; the file is unchanged, and the last good copy of DATE is read, without later edits"

    static let faults: [Fault] = [
        Fault("not ours", "BASE: line 1, column 2: expected a key in quotes" + unchanged).with { $0.base = "{x" },
        Fault("a mistake", "BASE: line 1, column 2: expected a key in quotes" + known).with {
            ($0.base, $0.hasCopy) = ("{x", true)
        },
        Fault("damaged", "BASE: is neither a binary nor an XML property list" + known).with {
            ($0.place, $0.base, $0.hasCopy) = (.plist, "hello", true)
        },
        Fault("emptied", "BASE: is empty, and had values before" + known).with {
            ($0.place, $0.base, $0.hasCopy) = (.plist, "", true)
        },
        Fault("a folder", "BASE: is a folder; the stored state is unchanged").with { $0.isFolder = true },
        Fault("no dictionary", "BASE: its top level is not a dictionary" + unchanged).with { $0.base = "[1]" },
        Fault(
            "a migration that fails",
            #""ServerPrefs" could not be migrated to version 2: ERROR; the stored state is unchanged"#
        ).with { $0.base = #"{"version": 1, "since": "x"}"# },
        Fault("a type", "port: expected Int, found a string").with { $0.base = #"{"port": "x"}"# },
        Fault("a constraint", "port: must be in 1...65535").with { $0.base = #"{"port": 0}"# },
        Fault("a field", "listen.host: expected String, found an integer").with {
            $0.base = #"{"listen": {"host": 5}}"#
        },
        Fault("a key", #"prot: is not a key of ServerPrefs; did you mean "port"?"#).with { $0.base = #"{"prot": 5}"# },
        Fault("an unlike key", "zzz: is not a key of ServerPrefs").with { $0.base = #"{"zzz": 5}"# },
        Fault("a key in a property list", #"prot: is not a key of ServerPrefs; did you mean "port"?"#).with {
            ($0.place, $0.base) = (.plist, "<plist><dict><key>prot</key><true/><key>zzz</key><true/></dict></plist>")
        },
        Fault("an old version", #"version: is 1, and the next write migrates "since" to version 2"#).with {
            $0.base = #"{"version": 1, "since": 2}"#
        },
        Fault(
            "a newer version",
            "version: is 7, and this program knows versions up to 2: a newer one has written the values"
        ).with { $0.base = #"{"version": 7}"# },
        Fault("a malformed layer", "LAYER: line 1, column 2: expected a key in quotes").with {
            ($0.layer, $0.lastError) = ("{x", "layer LAYER: line 1, column 2: expected a key in quotes; ignored")
        },
        Fault("a value of a layer", "port in LAYER: expected Int, found a string").with {
            ($0.layer, $0.lastError) = (
                #"{"port": "x"}"#, "layer LAYER: port: expected Int, found a string; ignored"
            )
        },
        Fault("a key of a layer", #"prot in LAYER: is not a key of ServerPrefs; did you mean "port"?"#).with {
            $0.layer = #"{"prot": 5}"#
        },
        Fault("a variable", #"APP_PORT: environment: expected Int, found "abc": not a number"#).with {
            $0.variables = ["APP_PORT": "abc"]
            $0.lastError = #"layer environment: APP_PORT: expected Int, found "abc": not a number; ignored"#
        },
        Fault("an unknown variable", #"APP_PROT: environment: no key has this variable; did you mean "APP_PORT"?"#)
            .with { $0.variables = ["APP_PROT": "1"] },
        Fault("an argument", #"--port: arguments: expected Int, found "abc": not a number"#).with {
            $0.arguments = ["--port", "abc"]
            $0.lastError = #"layer arguments: --port: expected Int, found "abc": not a number; ignored"#
        },
        Fault("an unknown argument", #"--prot: arguments: no key has this argument; did you mean "--port"?"#).with {
            $0.arguments = ["--prot", "1"]
        },
    ]

    private let folder = TemporaryFolder.fresh

    private func file(_ fault: Fault) -> URL { folder.file(fault.place == .json ? "base.json" : "base.plist") }
    private var layer: URL { folder.file("layer.json") }

    private func prefs(_ fault: Fault) -> ServerPrefs {
        let base: PrefsStore =
            fault.place == .json
            ? PrefsStore.json(url: file(fault)) : PrefsStore.propertyList(url: file(fault), layout: .flat)
        return ServerPrefs(
            store: .layered(
                base,
                above: [
                    .arguments(["app"] + fault.arguments), .environment(prefix: "APP_", in: fault.variables),
                ], below: [.file(layer)]))
    }

    /// Makes the fault, after a write of the package if it has a copy.
    private func make(_ fault: Fault) throws {
        if fault.hasCopy { prefs(fault).name = "kept" }
        try spoil(fault)
    }

    private func spoil(_ fault: Fault) throws {
        if fault.isFolder {
            try? FileManager.default.removeItem(at: file(fault))
            try FileManager.default.createDirectory(at: file(fault), withIntermediateDirectories: false)
        }
        if let text = fault.base { try Data(text.utf8).write(to: file(fault)) }
        if let text = fault.layer { try Data(text.utf8).write(to: layer) }
    }

    /// A text without what differs in each run.
    private func plain(_ text: String, _ fault: Fault) -> String {
        text.replacing(file(fault).path, with: "BASE").replacing(layer.path, with: "LAYER")
            .replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/, with: "DATE").replacing(
                /: [^:;]*(?=; the stored state is unchanged$)/
            ) {
                $0.output.contains("Error") || $0.output.contains("error") || $0.output.contains("data")
                    ? ": ERROR" : $0.output
            }
    }

    /// What stands when a program starts.
    @Test(arguments: faults) func aFaultThatStands(_ fault: Fault) throws {
        try make(fault)
        let prefs = prefs(fault)
        func plain(_ texts: [String]) -> [String] { texts.map { self.plain($0, fault) } }
        #expect(plain(prefs.problems().map(\.description)) == [fault.text])
        // Each closure gets it once, before `onError` returns, also a second one and that of another instance.
        let other = self.prefs(fault)
        let (first, second, third) = (Heard<String>(), Heard<String>(), Heard<String>())
        let errors = [
            prefs.onError { first.append("\($0)") }, prefs.onError { second.append("\($0)") },
            other.onError { third.append("\($0)") },
        ]
        let told = plain(first.all)
        #expect(told.count == 1 && plain(second.all) == told && plain(third.all) == told)
        #expect(told == [fault.lastError ?? fault.text])
        // An access that meets it repeats it to nobody who knows it.
        let met = prefs.met.all.count
        _ = (prefs.values, prefs.port, prefs.name, prefs.listen)
        #expect(first.all.count == 1 && third.all.count == 1)
        #expect(prefs.met.all.count == met || met == 0, "an access had met it when the instance was made")
        // A rejected write is told each time.
        for _ in 0..<2 { prefs["name"] = 5 }
        #expect(first.all.count == 3)
        errors.forEach { $0.cancel() }
        prefs["name"] = 5
        #expect(first.all.count == 3)
    }

    /// What becomes wrong while a program runs, without an access.
    @Test(arguments: faults.filter { $0.variables.isEmpty && $0.arguments.isEmpty })
    func aFaultThatBegins(_ fault: Fault) throws {
        try Data((fault.place == .json ? "{}" : "<plist><dict/></plist>").utf8).write(to: file(fault))
        let prefs = prefs(fault)
        if fault.hasCopy { prefs.name = "kept" }
        let told = Heard<String>()
        let errors = prefs.onError { told.append("\($0)") }
        #expect(told.all == [])
        try spoil(fault)
        let text = fault.lastError ?? fault.text
        let state = text.replacing(
            "the last good copy of DATE is read, without later edits", with: "the last known state is read")
        #expect(told.wait(for: 1).map { plain($0, fault) } == [state])
        errors.cancel()
    }

    /// Of two closures, either one may end first.
    @Test(arguments: [0, 1]) func aClosureHearsAfterTheEndOfAnother(_ ended: Int) throws {
        let fault = Fault("", "")
        try Data("{}".utf8).write(to: file(fault))
        let prefs = prefs(fault)
        let told = [Heard<String>(), Heard<String>()]
        let errors = told.map { told in prefs.onError { told.append("\($0)") } }
        errors[ended].cancel()
        try Data(#"{"port": 0}"#.utf8).write(to: file(fault))
        #expect(told[1 - ended].wait(for: 1) == ["port: must be in 1...65535"])
        #expect(told[ended].all == [])
        errors[1 - ended].cancel()
    }

    /// Who needs no handler pays for none: an override of `prefsDidFail` starts no watch.
    @Test func anOverrideStartsNoWatch() throws {
        let fault = Fault("", "")
        let prefs = prefs(fault)
        _ = prefs.port
        #expect(prefs.state.errorHandlers == nil)
    }

    /// The first closure after the end of all others watches again.
    @Test func aClosureAfterTheEndOfAllHears() throws {
        let fault = Fault("", "")
        try Data("{}".utf8).write(to: file(fault))
        let prefs = prefs(fault)
        for _ in 0..<2 {
            let told = Heard<String>()
            let errors = prefs.onError { told.append("\($0)") }
            #expect(told.all == [])
            try Data(#"{"port": 0}"#.utf8).write(to: file(fault))
            #expect(told.wait(for: 1) == ["port: must be in 1...65535"])
            errors.cancel()
            try Data("{}".utf8).write(to: file(fault))
        }
    }

    /// Who knows one of two problems of an error has not heard of the other one.
    @Test func aProblemBesideAKnownOneIsTold() {
        let forced = Locked<[String: any Sendable]>([:])
        let layer = PrefsLayer.managed { key in forced.withLock { $0 }[key] }
        let prefs = ServerPrefs(store: .layered(.memory(), above: [layer]))
        // The look of `onError` meets it, and no access.
        forced.withLock { $0["port"] = 0 }
        let told = Heard<String>()
        let errors = prefs.onError { told.append("\($0)") }
        #expect(told.all == ["layer managed: port: must be in 1...65535; ignored"])
        forced.withLock { $0["since"] = "x" }
        for _ in 0..<2 { _ = prefs.values }
        let new = "since: expected Int, found a string"
        #expect(told.all.count == 2 && told.all.last?.contains(new) == true, "\(told.all)")
        errors.cancel()
    }

    /// A problem that ends is told to nobody, and told again when it returns.
    @Test func aProblemThatReturns() throws {
        let fault = Fault("", "")
        let prefs = prefs(fault)
        let told = Heard<String>()
        let errors = prefs.onError { told.append("\($0)") }
        for round in 1...3 {
            try Data(#"{"prot": 5}"#.utf8).write(to: file(fault))
            #expect(told.wait(for: round).count == round)
            try Data(#"{"port": 5}"#.utf8).write(to: file(fault))
            expectEventually(prefs.state.errorHandlers?.hasTold, is: false)
            #expect(prefs.problems() == [])
        }
        errors.cancel()
    }
}
