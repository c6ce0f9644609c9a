@testable import PrefsSupport
import Foundation
import Testing

@testable import PersistentPreferences
@testable import PrefsFileEngine

/// All messages of the library, to be read aloud: what was expected, what was found and, where there is something to do, what.
///
/// A new case of `PrefsError` needs a row of `rows`, and a new reason in the sources one of `reasons`. `ToolMessageTests` has those of
/// the tool.
@Suite struct MessageTests {
    private struct Odd: Error { let number: Int }

    private static func failure(_ call: String, _ code: Int32) -> StorageFailure {
        StorageFailure(call, "/p/x.plist", code: code)
    }

    private static func value(_ path: String, _ reason: String) -> PropertyListFailure {
        PropertyListFailure(path: path, topLevelKey: path, reason: reason)
    }

    private static let typo = PropertyListFault(reason: "expected a value, found }", line: 4, column: 3)

    private static func malformed(_ state: MalformedFile.KnownState, quarantinedAs: String? = nil) -> MalformedFile {
        var file = MalformedFile(path: "/p/x.json", fault: typo, state: state)
        file.quarantinedAs = quarantinedAs
        return file
    }

    /// A good file from which a migration has made a value that does not fit.
    private static let mismigrated: MalformedFile = {
        let reason = #"the migration of the root "R" to version 2 gave values that do not fit: size: must be in 8...72"#
        var file = MalformedFile(
            path: "/p/x.plist", fault: PropertyListFault(reason: reason), state: .lastKnown, isWellFormed: true)
        file.quarantinedAs = "/p/x.plist.corrupt-1"
        return file
    }()

    private static let rows: KeyValuePairs<String, PrefsError> = [
        #"expected a key that @Pref declares or allowedKeys lists, found "x", "y""#:
            .incorrectKeys(invalidElements: ["x", "y"]),
        #"expected a key that @Pref declares or allowedKeys lists, found "x""#: .incorrectKeys(invalidElements: ["x"]),
        // `VettingTests` has the reasons.
        "a: cannot be stored in a property list": .valuesNotPlistCompatible(invalidElements: ["a"]),
        #"nothing is stored under the root key "R""#: .noStoredPrefsForKey(key: "R"),
        #""" is not a valid root key: it is empty"#:
            .invalidName(name: "", reason: "is not a valid root key: it is empty"),
        #"the root "R": expected a dictionary, found another type; deleteRoot() removes it"#:
            .rootIsNotDictionary(key: "R"),
        "/p/x.plist: open: Permission denied; the stored state is unchanged": .unreadable(failure("open", EACCES)),
        "/p/x.json: line 4, column 3: expected a value, found }; the file is unchanged, and the last known state is read":
            .damaged(malformed(.lastKnown)),
        "/p/x.json: line 4, column 3: expected a value, found }; quarantined as /p/x.json.corrupt-1; "
            + "only this write was stored": .quarantined(malformed(.nothing, quarantinedAs: "/p/x.json.corrupt-1")),
        "/p/x.json: line 4, column 3: expected a value, found }; quarantined as /p/x.json.corrupt-1; "
            + "the write started from the last good copy of 1970-01-01T00:00:00Z":
            .quarantined(
                malformed(.lastGoodCopy(Date(timeIntervalSince1970: 0)), quarantinedAs: "/p/x.json.corrupt-1")),
        #"/p/x.plist: the migration of the root "R" to version 2 gave values that do not fit: size: must be in 8...72; "#
            + "quarantined as /p/x.plist.corrupt-1; the result was stored": .quarantined(mismigrated),
        "/p/x.json: line 4, column 3: expected a value, found }; "
            + "the file is unchanged, because it may belong to another program": .notOurs(malformed(.nothing)),
        "/p/x.plist: write: No space left on device; free some space; the stored state is unchanged":
            .notStored(failure("write", ENOSPC)),
        "/p/.x.plist.lock: still locked after 2 s: held by process 7; the stored state is unchanged":
            .busy(StorageFailure(path: "/p/.x.plist.lock", reason: "still locked after 2 s: held by process 7")),
        "etcd://h:1/p: no answer after 5 s; "
            + "nobody knows whether the new state is stored; read it before you repeat the write":
            .outcomeUnknown(StorageFailure(path: "etcd://h:1/p", reason: "no answer after 5 s")),
        "the domain has 600000 bytes; this system allows less than 1000000; the new state is stored; "
            + "move large values to files": .nearSizeLimit(bytes: 600_000, limit: 1_000_000),
        "/p/x.plist: fsync: Input/output error; "
            + "the new state is stored, but an older one may return after a power cut or damage":
            .durabilityUnconfirmed(failure("fsync", EIO)),
        "size: expected Int, found a string": .mismatch(of: [value("size", "expected Int, found a string")]),
        "size: must be in 8...72\nname: must not be empty":
            .violation(of: [value("size", "must be in 8...72"), value("name", "must not be empty")]),
        "low must be at most high; the stored state is unchanged": .ruleViolated(["low must be at most high"]),
        #""R" could not be migrated to version 2: Stop(); the stored state is unchanged"#:
            .migrationFailed(key: "R", version: 2, error: Stop()),
        #""R" could not be migrated to version 2: Odd(number: 1); the stored state is unchanged"#:
            .migrationFailed(key: "R", version: 2, error: Odd(number: 1)),
        #""R" could not be migrated to version 2: Odd(number: 2); the stored state is unchanged"#:
            .migrationFailed(key: "R", version: 2, error: Odd(number: 2)),
        "the data cannot be imported: line 1, column 2: expected a key or }, found the end; "
            + "the stored state is unchanged":
            .invalidImport(reason: "line 1, column 2: expected a key or }, found the end"),
        "/p/x.plist: inotify_add_watch: the limit of watches is reached; raise fs.inotify.max_user_watches; "
            + "changes made elsewhere are looked for once a second": .notWatched(failure("inotify_add_watch", ENOSPC)),
        #""size" is set by the layer environment (APP_size); the stored state is unchanged"#:
            .coveredByLayer([PrefsProblem(covered: "size", by: "environment", place: "APP_size")]),
        #"layer environment: APP_size: expected Int, found "x"; ignored"#:
            .ignoredInLayer([PrefsProblem(layer: "environment", place: "APP_size", reason: "expected Int, found \"x\"")]
            ),
        #"prot in /etc/app.json: is not a key of P; did you mean "port"?"#:
            .problem(
                PrefsProblem(
                    .unknownKey, path: "prot in /etc/app.json", reason: #"is not a key of P; did you mean "port"?"#)),
        #"layer /p/x.json: "R" could not be migrated to version 2: Stop(); ignored"#:
            .ignoredInLayer([
                PrefsProblem(
                    layer: "/p/x.json", place: "/p/x.json",
                    reason: PrefsError.migrationFailed(key: "R", version: 2, error: Stop()).reasonInLayer)
            ]),
        "layer /p/x.json: size: expected Int, found a string; ignored":
            .ignoredInLayer([
                PrefsProblem(layer: "/p/x.json", place: "size in /p/x.json", reason: "expected Int, found a string")
            ]),
        "version in /p/x.json: is 3, and this program knows versions up to 2: a newer one has written the values":
            .problem(
                PrefsProblem(
                    .version, in: .layer("/p/x.json"), path: "version in /p/x.json",
                    reason: RootSchema(migrations: [PrefsMigration(to: 2) { _ in }], className: "C", renames: [])
                        .newerVersion(of: [RootSchema.defaultVersionKey: StoredValue(3)]) ?? "")),
        #"A.Prefs and B.Prefs share the root "R", and declare "size" with different types; "#
            + "give one of them a root key of its own":
            SharedRoots.error(root: "R", ["A.Prefs", "B.Prefs"], contradictions: ["size"]),
        "a write to another store inside an update; end the update first": .updateOfAnotherStore,
        "a write inside a read, to this store or another; end the read first": .writeInsideRead,
        "userDefaults of the class is nil; nothing is read or stored until it returns a UserDefaults":
            .userDefaultsUnavailable,
        "Stop()": .unknownError(error: Stop()),
        "Odd(number: 1)": .unknownError(error: Odd(number: 1)),
        CocoaError(.fileWriteNoPermission).localizedDescription:
            .unknownError(error: CocoaError(.fileWriteNoPermission)),
        "unknown error": .unknownError(error: nil),
    ]

    @Test(arguments: rows.map(\.key)) func aMessageIs(_ message: String) throws {
        let error = try #require(Self.rows.first { $0.key == message }).value
        #expect("\(error)" == message && error.localizedDescription == message)
        #expect(!message.contains("NSCocoaErrorDomain"))
    }

    @Test func everyCaseHasAMessage() {
        let cases = Self.rows.map { PrefsErrorCase($0.value) }
        #expect(Set(PrefsErrorCase.allCases).subtracting(cases).map { "\($0)" }.sorted() == [])
        let ofValues = Self.rows.filter { !$0.value.failures.isEmpty }.map { PrefsErrorCase($0.value) }
        #expect(ofValues == [.valuesNotPlistCompatible, .typeMismatch, .constraintViolated])
    }

    /// The messages show the details.
    @Test func errorsAreEqualIfTheirMessagesAre() {
        #expect(PrefsError.unknownError(error: PrefsError.updateOfAnotherStore) != .updateOfAnotherStore)
        // Of two types with one text.
        struct One: Error, CustomStringConvertible { let description = "text" }
        struct Other: Error, CustomStringConvertible { let description = "text" }
        #expect(PrefsError.unknownError(error: One()) == .unknownError(error: One()))
        #expect(PrefsError.unknownError(error: One()) != .unknownError(error: Other()))
        let failure = PrefsError.migrationFailed(key: "k", version: 1, error: One())
        #expect(failure != .migrationFailed(key: "k", version: 1, error: Other()))
        for (leftMessage, left) in Self.rows {
            for (rightMessage, right) in Self.rows where (left == right) != (leftMessage == rightMessage) {
                Issue.record("\(left) and \(right): \(left == right ? "equal" : "different")")
            }
        }
    }

    /// What the system reports. It names no remedy for the others.
    @Test(
        arguments: [
            ("inotify_add_watch", ENOSPC, "the limit of watches is reached; raise fs.inotify.max_user_watches"),
            (
                "inotify_init", EMFILE,
                "Too many open files; raise fs.inotify.max_user_instances or the limit of this process (ulimit -n)"
            ),
            ("open", EMFILE, "Too many open files; raise the limit of this process (ulimit -n)"),
            ("write", EFBIG, "File too large; raise the limit of file sizes (ulimit -f)"),
            ("write", ENOSPC, "No space left on device; free some space"),
            ("write", EDQUOT, "Disk quota exceeded; free some space"),
            ("open", ELOOP, "Too many levels of symbolic links; expected a link that leads to a file"),
            ("open", EACCES, "Permission denied"), ("rename", EROFS, "Read-only file system"),
        ] as [(String, Int32, String)])
    func aSystemCallIsExplained(_ call: String, _ code: Int32, _ reason: String) {
        #expect(StorageFailure(call, "", code: code).reason == reason)
    }

    /// The reasons in the sources. A path, a key or a place stands before them.
    private static let reasons: Set<String> = [
        // Names and places.
        "is not a valid …: …", "is not a valid path: it contains a NUL", "is not the path of a file",
        "is not a valid …: it begins with a dot", "is not a valid …: it contains a /",
        "is not a valid suite name: UserDefaults rejects it", "does not name a file", "HOME is not an absolute path",
        "no home folder: HOME is not set, or empty", "no home folder: HOME is not UTF-8",
        "no Application Support folder", "no configuration folder: XDG_CONFIG_HOME is not UTF-8", "is not UTF-8",
        "is relative, and the working folder is unknown", "leads to a name that is not UTF-8",
        // Files that are something else, or of others.
        "belongs to another user, in a folder that everybody may write to",
        "is a folder", "is …", "is a link; expected a regular file; remove the link", "belongs to user …; expected …",
        "is a link of user …, who does not own the target; it is not followed",
        "is open to other users and has contents or a second name; expected an empty file with one name",
        "is a mount of its own and cannot be replaced; mount its folder into the container instead",
        "its group cannot be kept, and another group would change who has access", "its … cannot be kept: …",
        "its mode cannot be set to 0…: …; a filter of the process may refuse chmod",
        "has an extended attribute whose name is not UTF-8", "larger than … MiB",
        // Others that write.
        "held by an update on this thread in another copy of this package; link the package once, in one dynamic library "
            + "that exports it",
        "still locked after … s: …", "was changed during every attempt", "was changed during the attempt",
        "was changed by another program during every attempt", "was changed by another program during the update",
        "was removed by another program during the update", "was replaced by another program during the update",
        "was replaced by …", "was replaced by a link", "was replaced by another folder", "was replaced meanwhile",
        "has changed since the write that would be reverted", "its lock file was removed during the update",
        "its folder is removed repeatedly", "is deleted repeatedly", "appears and disappears repeatedly",
        "1000 files were quarantined in this second already; try again", "the program has called exit inside an update",
        "was …, and its last good copy was there", "was …, and had values before",
        "another program is still saving it after … s", "is empty, and had values before",
        "leads to another place than when the update began",
        "is empty; another program may be writing it", "cannot be watched in a forked process",
        "cannot be watched: …",
        // Contents.
        "is empty", "it is empty", "ends inside a character of UTF-16",
        "expected a dictionary at the top level, found …", "holds a value that cannot be stored in JSON",
        "more than … values", "the root would be larger than … MiB", "cannot be stored in a property list",
        "is not an allowed key",
        // Values.
        "expected …, found an unknown raw value", "expected a key of type …, found another string",
        "two keys have the same string", #"expected JSON in a string or in data, such as {"size": 12}"#, "is missing",
        "… encoded no value",
        // Layers, which the rows above show.
        #""…" is set by the layer …"#,
        "expected a value after it", "takes no value", "ignored, because … is set, too", "no key has this …",
        "ignored, because the fields … have this …", "is not a folder", "violates the constraint of the property",
        "other users may write it (mode …); run chmod go-w",
        #"no key has this argument; did you mean "…"?"#, "the keys … have one …; give one of them another key",
        "expected one of …, found …", "expected …, found another text",
        "the layer reads the file of the base", "the file does not exist", "there is no such resource",
        "was read without a folder to save to",
        "cannot be read: …", "UserDefaults cannot be read: …", "UserDefaults could not be synchronized",
        "only UserDefaults.standard reports its changes",
        // Of another message.
        "…", "…: …",
    ]

    /// What a form shows beside its fields.
    @Test func theProblemsOfAnErrorNameEachFieldOnce() {
        let values: [PropertyListFailure] = [
            .init(path: "a[0]", topLevelKey: "a", reason: "x"), .init(path: "b", topLevelKey: "b", reason: "y"),
        ]
        let problem = PrefsProblem(.version, path: "v", topLevelKey: "v", reason: "z")
        let rows: [(PrefsError, [String])] = [
            (.mismatch(of: values), ["value a a[0] x", "value b b y"]),
            (.violation(of: values), ["value a a[0] x", "value b b y"]),
            (.unsupportedValues(values), ["value a a[0] x", "value b b y"]),
            (
                .incorrectKeys(["siez"], among: ["size"]),
                [#"unknownKey siez siez is not an allowed key; did you mean "size"?"#]
            ),
            (
                .incorrectKeys(["c", "d"], among: ["e"]),
                ["c", "d"].map { "unknownKey \($0) \($0) is not an allowed key" }
            ),
            (.ruleViolated(["p", "q"]), ["rule   p", "rule   q"]),
            (.problem(problem), ["version v v z"]),
            (.coveredByLayer([problem, problem]), ["version v v z", "version v v z"]),
            (.noStoredPrefsForKey(key: "k"), [#"store   nothing is stored under the root key "k""#]),
        ]
        for (error, expected) in rows {
            let found = error.problems
            #expect(found.map { "\($0.kind) \($0.topLevelKey) \($0.path) \($0.reason)" } == expected)
            #expect(found.allSatisfy { $0.source == .stored })
        }
        // The error of one problem is of the case of its error.
        let covered = PrefsProblem(covered: "a", by: "values", place: "a")
        #expect(covered.error == .coveredByLayer([covered]) && !covered.error.isWarning)
        #expect("\(covered)" == #"a: "a" is set by the layer values"#)
        #expect(PrefsError.mismatch(of: values).problems[1].error == .mismatch(of: [values[1]]))
        #expect(PrefsError.violation(of: values).problems[1].error == .violation(of: [values[1]]))
    }

    @Test func aTextMatchesAMessageFromItsBeginning() {
        #expect(SourceMessages.matches("a … b", "a x b") && !SourceMessages.matches("a … b", "x a b"))
    }

    @Test func everyReasonIsListed() throws {
        let folders = [
            "PropertyLists", "FileEngine", "DefaultsDomain", "PersistentPreferences", "PrefsJSON", "PrefsKeys",
            "PrefsLayers",
            "PrefsSettingsFiles", "RVS_PersistentPrefs",
        ].map { "Sources/\($0)" }
        let found = try SourceMessages.all(in: folders, after: ["reason:"])
        #expect(found.subtracting(Self.reasons).sorted() == [])
        #expect(Self.reasons.subtracting(found).sorted() == [])
    }
}
