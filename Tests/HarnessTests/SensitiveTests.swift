import Foundation
import PersistentPreferences
import Testing
import TestSupport

@testable import PrefsTool
import PrefsJSON
import PrefsLayers
import PrefsStoreKit

/// Preferences with a secret of each kind.
private final class SecretPrefs: Prefs, @unchecked Sendable {
    struct Account: Codable, Equatable { var name = "default-secret", pin = 1 }

    @Pref var plain = "open"
    @Pref(.sensitive) var token = "default-secret"
    @Pref(.in(100...99_999), .sensitive) var pin = 100
    @Pref(.sensitive) var account = Account()
    @Pref(.sensitive) var code: String? = nil
    @Pref(.formerly("oldCode", "olderCode"), .formerly("oldest code"), .sensitive) var newCode = ""
    @Pref(.sensitive) var byName: [String: Int] = [:]
}

/// A sensitive value appears in no output of the tool and of the library, unless the user asks for it.
@Suite(.waits) final class SensitiveTests: HarnessSuite {
    private static let secrets = ["hunter2", "54321", "default-secret", "code-red"]
    private var url: URL { home.folder.file("secret.json") }
    private var store: PrefsStore { .propertyList(url: url, format: .json) }

    override var program: Program? {
        let store = store
        return Program(name: "myapp prefs") { SecretPrefs(key: $0, values: nil, store: $1 ?? store) }
    }

    override init() throws {
        try super.init()
        let prefs = SecretPrefs(store: store)
        prefs.update {
            prefs.plain = "seen"
            prefs.token = "hunter2"
            prefs.pin = 54_321
            prefs.account = .init(name: "hunter2", pin: 54_321)
        }
        #expect(prefs.lastError == nil)
    }

    private func hides(_ result: Printed, _ place: SourceLocation = #_sourceLocation) {
        for secret in Self.secrets {
            #expect(!(result.output + result.errors).contains(secret), "\(result)", sourceLocation: place)
        }
    }

    @Test func anEditOfADamagedFileSaysHowItsTextIsOpened() throws {
        try Data("{ \"token\": \"hunter2\" \"plain\": 1 }".utf8).write(to: url)
        let printed = try prefs(["edit"], ["EDITOR": "true"])
        hides(printed)
        #expect(
            printed.code == 1 && printed.errors.hasSuffix("; --reveal opens the text, with the sensitive values\n"),
            "\(printed)")
    }

    @Test(arguments: [
        ["show"], ["show", "--json"], ["get", "token"], ["get", "token", "--json"], ["get", "account.name"],
        ["get", "pin", "--stored"], ["get", "code", "--default", "none"], ["export"], ["export", "--format", "xml"],
        ["set", "token", "other", "--dry-run"], ["set", "token=a", "pin=200", "--dry-run", "--json"],
        ["set", "token", "x", "--if", "wrong"], ["set", "pin", "12345678code-red"], ["set", "pin", "5"],
        ["set", "account", "code-red"], ["set", "account.pin", "code-red"],
        ["unset", "token", "account", "--dry-run"], ["unset", "--all", "--dry-run"], ["set", "pin", "+1", "--dry-run"],
        ["set", "token", "toggle", "--dry-run"],
        ["find", "hunter"], ["find", "e"], ["find", "e", "--json"], ["get", "account", "--type"], ["doctor", "--json"],
        ["show", "account.name"], ["set", "account.nmae", "code-red"],
        ["set", "account.name", "code-red", "--if", "x"],
        ["unset", "account.name", "--dry-run"], ["help", "token"], ["help", "set"], ["help", "pin"], ["schema"],
        ["doctor"], ["show", "-f", "FILE"], ["export", "-f", "FILE"], ["find", "e", "-f", "FILE"],
        ["get", "SecretPrefs.account.name", "-f", "FILE"], ["undo", "-f", "FILE", "--dry-run"],
        ["completions"],
    ])
    func noCommandShowsIt(words: [String]) throws {
        hides(try prefs(words.map { $0 == "FILE" ? url.path : $0 }))
    }

    /// The program's own file, by the path of a link and by that of its target.
    @Test func noCommandShowsItByAnotherPath() throws {
        let link = home.folder.file("link.json")
        try FileManager.default.createSymbolicLink(atPath: link.path, withDestinationPath: "secret.json")
        for own in [link, url] {
            let store = PrefsStore.propertyList(url: own, format: .json)
            let program = Program(name: "myapp prefs") { SecretPrefs(key: $0, values: nil, store: $1 ?? store) }
            for path in [link, url] {
                for (words, hint) in [
                    (["show"], "•••"), (["export"], "seen"), (["find", "e"], "•••"),
                    (["get", "SecretPrefs.token"], "is sensitive"),
                ] {
                    let environment = ["HOME": home.folder.path]
                    let printed = try CommandRun(environment: environment).run(words + ["-f", path.path], of: program)
                    hides(printed)
                    #expect((printed.output + printed.errors).contains(hint), "\(printed)")
                }
            }
        }
    }

    @Test func dotsStandForIt() throws {
        for (words, key) in [(["token"], "token"), (["plain", "account.name", "--json"], "account.name")] {
            let message = "`\(key)` is sensitive; --reveal prints it"
            let json = Printed(errors: "{\"error\":\"\(message)\"}\n", code: 1)
            #expect(try prefs(["get"] + words) == (words.contains("--json") ? json : failure(message)))
        }
        #expect(try prefs(["get", "code", "--default", "none"]) == Printed("none\n"), "what is not set is no secret")
        #expect(try prefs(["get", "plain"]) == Printed("seen\n"))
        #expect(
            try prefs(["set", "token", "x", "--if", "wrong"]).errors.contains(
                "`token`: expected •••, found •••; nothing has changed"))
        let difference = try prefs(["set", "token=a", "plain=b", "--dry-run"])
        #expect(difference == Printed("~ plain: seen → b\n~ token: ••• → •••\n"))
    }

    /// A script that copies a value must not store what stands for it.
    @Test func dotsAreNotStored() throws {
        let bytes = try Data(contentsOf: url)
        for (words, input) in [
            (["set", "plain", "•••"], ""), (["set", "byName", #"{"•••": 1, "x": "•••"}"#], ""),
            (["import"], #"{"plain": "•••"}"#), (["set", "-f", "FILE", "new", #"["•••"]"#], ""),
        ] {
            let printed = try prefs(words.map { $0 == "FILE" ? url.path : $0 }, input: input)
            #expect(printed.code == 1 && printed.output == "", "\(printed)")
        }
        let message = "`plain`: dots stand for a hidden value and cannot be stored"
        #expect(try prefs(["set", "plain", "•••"]) == failure(message))
        #expect(try Data(contentsOf: url) == bytes)
    }

    /// A copy in another file would be readable there.
    @Test func itIsCopiedToAnotherFileIfAsked() throws {
        let copy = home.path("copy.json")
        for command in ["cp", "mv"] {
            #expect(try prefs([command, "token", "\(copy):t"]) == failure("`token` is sensitive; --reveal copies it"))
        }
        #expect(!FileManager.default.fileExists(atPath: copy))
        #expect(try prefs(["cp", "token", "\(copy):t", "--reveal"]) == Printed())
        #expect(try prefs(["get", "-f", copy, "t"]) == Printed("hunter2\n"))
    }

    @Test func itIsRevealedIfAsked() throws {
        #expect(try prefs(["get", "token", "--reveal"]) == Printed("hunter2\n"))
        #expect(try prefs(["get", "account.name", "--reveal"]) == Printed("hunter2\n"))
        #expect(try prefs(["show", "--reveal"]).output.contains("hunter2"))
        #expect(try prefs(["set", "token", "a", "--dry-run", "--reveal"]) == Printed("~ token: hunter2 → a\n"))
    }

    @Test func anExportThatRevealsItIsForItsOwnerAlone() throws {
        let file = home.path("all.json")
        #expect(try prefs(["export", "--reveal", "-o", file]).code == 0)
        var status = stat()
        try #require(stat(file, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }

    @Test func anExportLeavesItOutAndAnImportKeepsIt() throws {
        let exported = try prefs(["export"])
        #expect(
            exported.errors == "myapp prefs: left out, because sensitive: account, pin, token; --reveal exports them\n")
        hides(exported)
        #expect(try prefs(["import", "--replace"], input: exported.output) == Printed(""))
        let settings = SecretPrefs(store: store)
        #expect(settings.token == "hunter2" && settings.pin == 54_321 && settings.plain == "seen")
        hides(try prefs(["import", "--replace", "--dry-run"], input: #"{"token": "code-red", "plain": "x"}"#))
        let all = try prefs(["export", "--reveal"])
        #expect(all.output.contains("hunter2") && all.errors.isEmpty)
        // The values of the file are stored, and values that it lacks stay.
        #expect(try prefs(["import", "--replace"], input: #"{"token": "new"}"#) == Printed(""))
        #expect(settings.token == "new" && settings.pin == 54_321 && !settings.$plain.isStored)
    }

    /// The file is named, as another program's would be. It also has a root of another class.
    @Test func anImportIntoTheNamedFileKeepsWhatItsExportLeavesOut() throws {
        try store.update(root: "Other") { $0 = ["token": "code-red", "x": 1] }
        let exported = try prefs(["export", "-f", url.path])
        let left = "Other.token, SecretPrefs.account, SecretPrefs.pin, SecretPrefs.token"
        #expect(exported.errors == "myapp prefs: left out, because sensitive: \(left); --reveal exports them\n")
        hides(exported)
        #expect(try prefs(["set", "plain", "later"]).code == 0)
        #expect(try prefs(["import", "--replace", "-f", url.path], input: exported.output).code == 0)
        let settings = SecretPrefs(store: store)
        #expect(settings.token == "hunter2" && settings.pin == 54_321 && settings.plain == "seen")
        #expect(try store.read(root: "Other")?["token"] as? String == "code-red")
        // A secret that the import has is replaced as a whole.
        settings.byName = ["a": 1]
        let text = #"{"Other": {"x": 1}, "SecretPrefs": {"plain": "seen", "byName": {"b": 2}}}"#
        #expect(try prefs(["import", "--replace", "-f", url.path], input: text).code == 0)
        #expect(settings.byName == ["b": 2] && settings.token == "hunter2")
    }

    @Test func anUndoDoesNotShowIt() throws {
        #expect(try prefs(["set", "token=a", "account.name=b"]) == Printed(""))
        let undo = try prefs(["undo", "--dry-run"])
        #expect(undo.output.contains("•••") && undo.code == 0, "\(undo)")
        hides(undo)
        hides(try prefs(["undo", "-f", url.path]))
        #expect(SecretPrefs(store: store).token == "hunter2")
    }

    #if os(Linux)
        /// Another program may use the name of a secret for a value that is not secret.
        @Test func aSearchOfAllDomainsHidesItInTheOwnDomain() throws {
            let own = home.domainFile("com.example.own")
            let program = Program(name: "myapp prefs") {
                SecretPrefs(key: $0, values: nil, store: $1 ?? PrefsStore.propertyList(url: own))
            }
            _ = try home.writeSuite("com.example.own", ["SecretPrefs": ["token": "hunter2"]])
            _ = try home.write(["token": "public"], to: ".config/com.example.other.plist")
            func find(_ words: String...) throws -> Printed {
                try CommandRun(environment: ["HOME": home.folder.path]).run(["find", "--domains"] + words, of: program)
            }
            let lines = ["com\\.example\\.other.token: public\n", "com\\.example\\.own.SecretPrefs.token: "]
            #expect(try find("token") == Printed("\(lines[0])\(lines[1])•••\n"))
            #expect(try find("hunter2").output == "")
            #expect(try find("hunter2", "--reveal") == Printed("\(lines[1])hunter2\n"))
        }
    #endif

    @Test func completionsDoNotOfferIt() throws {
        let program = try #require(program)
        for words in [
            ["set", "token", ""], ["set", "token="], ["get", "token", "--default", ""], ["set", "pin", ""],
        ] {
            let offers = WordCompleter(of: program, before: words.dropLast(), word: words.last ?? "").candidates
            #expect(!offers.contains { offer in Self.secrets.contains { (offer.text + offer.note).contains($0) } })
        }
    }

    @Test func theEditorDoesNotGetIt() throws {
        let run = try EditRun(home, #"sed -i 's/"seen"/"edited"/' "$1""#)
        #expect(try prefs(["edit"], run.environment) == Printed())
        hides(Printed(try run.opened(1)))
        #expect(SecretPrefs(store: store).token == "hunter2")
        // Nor as entries of the file.
        #expect(try prefs(["edit", "-f", url.path], run.environment).code == 0)
        let entries = try run.opened(2)
        #expect(entries.contains("\"edited\""))
        hides(Printed(entries))
        // The text of a file with a typing error may contain secrets.
        try Data("{\n  \"SecretPrefs\": {\"token\": \"hunter2\" 1}\n}".utf8).write(to: url)
        for words in [[], ["-f", url.path]] {
            let printed = try prefs(["edit"] + words, run.environment)
            #expect(printed.code == 1)
            hides(printed)
        }
        #expect(try run.count == 2)
    }

    // MARK: - The library

    @Test func theLibraryDoesNotShowIt() throws {
        let prefs = SecretPrefs(store: store)
        var texts = ["\(prefs)", "\(prefs.debugDescription)", "\(SecretPrefs.describe())", "\(prefs.describe())"]
        texts.append(String(decoding: SecretPrefs.jsonSchema(), as: UTF8.self))
        texts.append("\(prefs.$token) \(String(reflecting: prefs.$token))")
        dump(prefs, to: &texts[0])
        _ = prefs.token
        dump(prefs.$token, to: &texts[1])
        dump(prefs.describe(), to: &texts[2])
        prefs["byName"] = ["hunter2": "x"]
        texts.append("\(prefs.lastError as Any) \(prefs.problems())")
        prefs.pin = 5
        texts.append("\(prefs.lastError as Any)")
        prefs["pin"] = "code-red"
        texts.append("\(prefs.lastError as Any)")
        texts.append("\(prefs.lastError?.localizedDescription ?? "") \(String(reflecting: prefs.lastError))")
        let arguments = PrefsLayer.arguments(["p", "-pin", "code-red", "-account", "code-red"])
        let layered = SecretPrefs(store: .layered(store, above: [arguments]))
        _ = (layered.pin, layered.account)
        texts.append("\(layered.lastError as Any) \(layered)")
        for text in texts { hides(Printed(text)) }
        #expect(texts[0].contains("token: •••") && texts[0].contains("plain: seen"))
        #expect(SecretPrefs.describe().map(\.isSensitive) == [false, true, true, true, true, true, true])
    }

    @Test func aChangeIsDescribedByItsKeys() {
        let change = PrefsChange(root: "Root", from: [:], to: ["token": "hunter2"], origin: .thisProcess)
        var text = "\(change as Any) \(String(reflecting: change))"
        dump(change, to: &text)
        #expect(text.contains("root: \"Root\", keys: [\"token\"]") && !text.contains("hunter2"))
    }

    /// - Parameter isKnown: whether there is a last good copy. Without it, the file may be another program's.
    @Test(arguments: [true, false]) func aDamagedLineIsNotQuoted(isKnown: Bool) throws {
        if !isKnown { try FileManager.default.removeItem(at: home.folder.file(".secret.json.lastgood")) }
        try Data("{\n  \"SecretPrefs\": {\"plain\": 1 \"token\": \"hunter2\"}\n}".utf8).write(to: url)
        let result = try prefs(["set", "plain", "x"])
        let remedy = isKnown ? "correct it, or --force" : "; the file may belong to another program"
        #expect(result.code == 1 && result.errors.contains("line 2") && result.errors.contains(remedy), "\(result)")
        hides(result)
        #expect(try prefs(["set", "plain", "x", "--reveal"]).errors.contains("hunter2"))
    }

    @Test func aDiffWithTheOwnFileHidesIt() throws {
        let json = #"{"SecretPrefs": {"token": "code-red", "plain": "x"}}"#
        let other = try home.write(json, to: "other.json").path
        for words in [[url.path, other], [other, url.path], [url.path, other, "--json"]] {
            let difference = try prefs(["diff"] + words)
            #expect(difference.code == 1 && difference.output.contains("•••"), "\(difference)")
            hides(difference)
        }
        let revealed = try prefs(["diff", url.path, other, "--reveal"])
        #expect(revealed.output.contains("~ SecretPrefs.token: hunter2 → code-red\n"), "\(revealed)")
    }

    @Test(arguments: ["oldCode", "olderCode", "oldest code"]) func aFormerKeyIsASecretToo(_ key: String) throws {
        try store.update(root: "SecretPrefs") { $0 = [key: "code-red", "plain": "a"] }
        hides(try prefs(["show"]))
        hides(try prefs(["show", "-f", url.path]))
        hides(try prefs(["set", "plain", "b"]))
        let undo = try prefs(["undo", "--dry-run"])
        #expect(undo.output.contains("\(key): •••") || undo.output.contains("\"\(key)\"]: •••"), "\(undo)")
        hides(undo)
        hides(try prefs(["set", "token", "x", "--if", "hunter2"]))
    }
}
