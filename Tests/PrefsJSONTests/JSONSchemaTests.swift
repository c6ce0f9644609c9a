@testable import PrefsSupport
import Foundation
import TestSupport
import Testing

@testable import PersistentPreferences
@testable import PrefsJSON
@testable import PrefsPropertyLists

private final class BoundPrefs: PersistentPrefs, @unchecked Sendable {
    @Pref(.in(8...72), .help("In points.")) var size = 12
    @Pref(.in(0..<10)) var part = 1
    @Pref(.in(0.5...)) var scale = 1.0
    @Pref(.in(0.1...0.5)) var thin: Float = 0.25
    @Pref(.in(["de", "en"])) var language: String? = nil
    @Pref(.in([1.5, 2])) var factor = 1.5
    @Pref(.in([true])) var isTrue = true
    @Pref(.length(2...4), .pattern("[a-zK]+")) var name = "ab"
    @Pref(.pattern(#"\w+.é"#)) var word = "abé"
    @Pref(.count(1...2)) var list = ["a"]
    @Pref(.count(1...2)) var set: Set<Int> = [1]
    @Pref(.count(...2)) var table: [String: Int] = [:]
    @Pref(.count(...2)) var data = Data()
    @Pref(.in(0...10), .in(5...20)) var both = 7
    @Pref(.in(Date.distantPast...Date.distantFuture)) var date = Date(timeIntervalSinceReferenceDate: 0)
    @Pref(
        .in(1...2),
        coding: PrefCoding<Int>(encode: { "\($0)" }, decode: { ($0 as? String).flatMap(Int.init) }))
    var coded = 1

    /// Values that the constraints accept, in each stored form.
    static var samples: [(key: String, values: [Any])] {
        [
            ("size", [8, 72, 9.0]), ("part", [0, 9]), ("scale", [0.5, Double.infinity, 3]),
            ("thin", [0.1, 0.5, Double(Float(0.1))]),
            ("language", ["de"]), ("factor", [2, 2.0, 1.5]), ("isTrue", [true, 1]), ("name", ["ab", "abcd"]),
            ("word", ["äöü e\u{301}"]),
            ("list", [["a"], ["a", "b"]]), ("set", [[1], [1, 1, 1]]), ("table", [["a": 1, "b": 2], ["$x": 1]]),
            ("data", [Data([1, 2])]),
            ("both", [5, 10]), ("date", [Date.distantPast]), ("coded", ["2"]),
        ]
    }
}

/// Encodes itself as an object, although it has a raw value.
private struct Width: RawRepresentable, Codable {
    var rawValue: Int

    init(rawValue: Int) { self.rawValue = rawValue }

    private enum CodingKeys: CodingKey { case points }

    init(from decoder: any Decoder) throws {
        rawValue = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .points)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(rawValue, forKey: .points)
    }
}

private final class FormPrefs: PersistentPrefs, @unchecked Sendable {
    struct Column: Codable {
        var width = Width(rawValue: 5)
        var name: String? = "a"
    }
    /// Has been a number, and is a text.
    struct Loose: Codable {
        var value = "1"

        init() {}

        init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            let number = try? container.decode(Int.self, forKey: .value)
            value = try number.map { "\($0)" } ?? container.decode(String.self, forKey: .value)
        }
    }
    enum Mark: String, CaseIterable, Codable { case none = "$null", some = "x" }

    @Pref(.in(..<10)) var below = 1
    @Pref(.in(...10)) var upTo = 1
    @Pref(.in(..<0.5)) var part = 0.25
    @Pref(.in([0.1, 0.5])) var ratio: Float = 0.5
    @Pref(.length(0...0)) var nothing = ""
    @Pref(.length(2...)) var long: String? = nil
    @Pref(.pattern("[a-z]+")) var word: String? = nil
    @Pref(.count(1..<3)) var few = [1]
    @Pref(.sensitive) var secret = "hidden"
    @Pref var dates = [Date(timeIntervalSinceReferenceDate: 0.5)]
    @Pref var table: [String: Any] = ["$data": "AQ=="]
    @Pref var tables: [[String: String]] = [["$data": "AQ=="]]
    @Pref var marks: [Mark?] = []
    @Pref var loose = Loose()
    @Pref var width = Width(rawValue: 5)
    @Pref var column = Column()
}

/// `jsonSchema()`, alone and with the reference implementation in Python.
@Suite struct JSONSchemaTests {
    private static func object(_ data: Data) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
    }

    private static func properties(_ prefs: PersistentPrefs) throws -> [String: [String: Any]] {
        let schema = try object(prefs.jsonSchema())
        return try #require(schema["properties"] as? [String: [String: Any]])
    }

    /// The schema of a property as sorted JSON on one line.
    private static func line(_ schema: [String: Any]?) throws -> String {
        let schema = try #require(schema)
        let data = try JSONSerialization.data(withJSONObject: schema, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }

    @Test func theSchemaNamesTheClassAndAllowsOnlyItsKeys() throws {
        let prefs = BoundPrefs(store: .memory())
        let schema = try Self.object(prefs.jsonSchema())
        #expect(schema["$schema"] as? String == "https://json-schema.org/draft/2020-12/schema")
        #expect(schema["title"] as? String == "BoundPrefs" && schema["type"] as? String == "object")
        #expect(schema["additionalProperties"] as? Bool == false)
        #expect(Set(try Self.properties(prefs).keys) == Set(prefs.allowedKeys))
        #expect(BoundPrefs.jsonSchema() == prefs.jsonSchema())
    }

    @Test func keysOfAnOverrideAreAllowed() throws {
        let properties = try Self.properties(EveryTypePrefs(store: .memory()))
        #expect(properties["free"]?.isEmpty == true)
        #expect(try Self.line(properties["$$lone"]) == Self.line(properties["$lone"]))
    }

    @Test(arguments: [
        "size":
            #"{"$comment":"must be in 8...72","default":12,"description":"In points.","maximum":72,"minimum":8,"type":"integer"}"#,
        "language": #"{"$comment":"must be one of de, en","enum":["de","en"],"type":"string"}"#,
        "name":
            #"{"$comment":"must be 2...4 characters long and of the form [a-zK]+","default":"ab","minLength":2,"pattern":"^(?:[a-zK]+)$","type":"string"}"#,
        "list":
            #"{"$comment":"must have 1...2 elements","default":["a"],"items":{"type":"string"},"maxItems":2,"minItems":1,"type":"array"}"#,
        "both":
            #"{"$comment":"must be in 0...10 and in 5...20","allOf":[{"maximum":20,"minimum":5}],"default":7,"maximum":10,"minimum":0,"type":"integer"}"#,
        "coded": #"{"$comment":"must be in 1...2","default":"1"}"#,
    ])
    func constraintsAreExpressed(_ key: String, _ schema: String) throws {
        #expect(try Self.line(Self.properties(BoundPrefs(store: .memory()))[key]) == schema)
    }

    @Test(arguments: [
        "uint8": #"{"default":1,"maximum":255,"minimum":0,"type":"integer"}"#,
        "string": #"{"default":"x","type":"string"}"#,
        "bool": #"{"default":false,"type":"boolean"}"#,
        "size": #"{"default":"small","enum":["small","large"],"type":"string"}"#,
        "level": #"{"default":1,"enum":[1,10],"type":"integer"}"#,
        "mode": #"{"default":{"light":{}},"enum":[{"light":{}},{"dark":{}}],"type":"object"}"#,
        "channel": #"{"default":"news","type":"string"}"#,
        "width": #"{"default":3,"type":["integer","string"]}"#,
        "uuid": #"{"default":"00010203-0405-0607-0809-0A0B0C0D0E0F","type":"string"}"#,
        "optionals":
            #"{"default":[],"items":{"anyOf":[{"enum":["small","large"],"type":"string"},{"const":"$null"}]},"type":"array"}"#,
        "data":
            #"{"additionalProperties":false,"default":{"$data":""},"items":{"maximum":255,"minimum":0,"type":"integer"},"pattern":"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$","properties":{"$data":{"contentEncoding":"base64","type":"string"}},"required":["$data"],"type":["object","string","array"]}"#,
        "anything": #"{"additionalProperties":{},"default":{},"type":"object"}"#,
    ])
    func typesAreExpressed(_ key: String, _ schema: String) throws {
        #expect(try Self.line(Self.properties(EveryTypePrefs(store: .memory()))[key]) == schema)
    }

    /// What `BoundPrefs` and `EveryTypePrefs` do not have.
    @Test(arguments: [
        "below":
            #"{"$comment":"must be less than 10","default":1,"exclusiveMaximum":10,"maximum":9223372036854775807,"minimum":-9223372036854775808,"type":"integer"}"#,
        "upTo":
            #"{"$comment":"must be at most 10","default":1,"maximum":10,"minimum":-9223372036854775808,"type":"integer"}"#,
        "part":
            #"{"$comment":"must be less than 0.5","additionalProperties":false,"default":0.25,"exclusiveMaximum":0.5,"properties":{"$double":{"enum":["nan","inf","-inf"]}},"required":["$double"],"type":["number","object"]}"#,
        "nothing":
            #"{"$comment":"must be 0...0 characters long","default":"","maxLength":0,"minLength":0,"type":"string"}"#,
        "long":
            #"{"$comment":"must be at least 2 characters long","minLength":2,"type":"string"}"#,
        "word":
            #"{"$comment":"must be of the form [a-z]+","pattern":"^(?:[a-z]+)$","type":"string"}"#,
        "few":
            #"{"$comment":"must have 1..<3 elements","default":[1],"items":{"maximum":9223372036854775807,"minimum":-9223372036854775808,"type":"integer"},"maxItems":2,"minItems":1,"type":"array"}"#,
        "ratio":
            #"{"$comment":"must be one of 0.1, 0.5","additionalProperties":false,"default":0.5,"properties":{"$double":{"enum":["nan","inf","-inf"]}},"required":["$double"],"type":["number","object"]}"#,
        "secret":
            #"{"type":"string"}"#,
        "dates":
            #"{"default":[{"$date":"2001-01-01T00:00:00.5Z"}],"items":{"additionalProperties":false,"pattern":"^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+(Z|[+-][0-9:]+))?$","properties":{"$date":{"format":"date-time","type":["string","number"]}},"required":["$date"],"type":["object","string","number"]},"type":"array"}"#,
        "table":
            #"{"additionalProperties":{},"default":{"$$data":"AQ=="},"type":"object"}"#,
        "tables":
            #"{"default":[{"$$data":"AQ=="}],"items":{"additionalProperties":{"type":"string"},"type":"object"},"type":"array"}"#,
        "loose": #"{"default":{"value":"1"},"type":"object"}"#,
        "width": #"{"default":5}"#,
        "marks":
            #"{"default":[],"items":{"anyOf":[{"enum":["$$null","$$$null","x"],"type":"string"},{"const":"$null"}]},"type":"array"}"#,
        "column":
            #"{"default":{"name":"a","width":{"points":5}},"properties":{"name":{"anyOf":[{"type":"string"},{"const":"$null"}]},"width":{"properties":{"points":{"maximum":9223372036854775807,"minimum":-9223372036854775808,"type":"integer"}},"type":"object"}},"type":"object"}"#,
    ])
    func rareTypesAndRulesAreExpressed(_ key: String, _ schema: String) throws {
        let found = try Self.line(Self.properties(FormPrefs(store: .memory()))[key])
        #expect(found == schema)
    }

    @Test func fieldsOfAStructHaveTheTypesThatItDecodes() throws {
        let properties = try Self.properties(EveryTypePrefs(store: .memory()))
        let server = try #require(properties["server"])
        let fields = try #require(server["properties"] as? [String: [String: Any]])
        #expect(Set(fields.keys) == ["host", "port", "size", "ratio", "paths"])
        #expect(try Self.line(fields["port"]) == #"{"maximum":65535,"minimum":0,"type":"integer"}"#)
        #expect(try Self.line(fields["size"]) == #"{"enum":["small","large"],"type":"string"}"#)
        #expect(server["additionalProperties"] == nil && server["required"] == nil)
    }

    // MARK: - Validation

    /// The results of a validator: `true` for each document that the schema accepts.
    private static func verdicts(_ schema: Data, _ documents: [Data]) throws -> [Bool] {
        let script = """
            import json, sys
            from jsonschema import Draft202012Validator
            schema = json.load(open(sys.argv[1] + "/schema.json"))
            Draft202012Validator.check_schema(schema)
            validator = Draft202012Validator(schema)
            for index in range(int(sys.argv[2])):
                print(validator.is_valid(json.load(open(sys.argv[1] + "/%d.json" % index))))
            """
        let folder = try TemporaryFolder()
        try schema.write(to: folder.file("schema.json"))
        for (index, document) in documents.enumerated() { try document.write(to: folder.file("\(index).json")) }
        let python = try #require(SchemaValidator.python)
        let result = try SchemaValidator.run(python, ["-c", script, folder.path, "\(documents.count)"])
        try #require(result.code == 0, "\(result.errors)")
        return result.output.split(separator: "\n").map { $0 == "True" }
    }

    @Test(.enabled(if: SchemaValidator.isThere), arguments: [true, false])
    func theSchemaAcceptsEveryExport(_ hasBounds: Bool) throws {
        let make: () -> PersistentPrefs = {
            hasBounds ? BoundPrefs(store: .memory()) : EveryTypePrefs(store: .memory())
        }
        var exports = [try #require(make().exported(as: .json))]
        var names = ["nothing"]
        for (key, values) in hasBounds ? BoundPrefs.samples : EveryTypePrefs.samples {
            for value in values {
                let prefs = make()
                prefs[key] = value
                #expect(prefs.lastError == nil, "\(key): \(value)")
                exports.append(try #require(prefs.exported(as: .json)))
                names.append("\(key): \(value)")
            }
        }
        let verdicts = try Self.verdicts(make().jsonSchema(), exports)
        // A number is read as a Boolean, but never written for one.
        let numbers = hasBounds ? ["isTrue: 1"] : ["bool: 0", "bool: 1", "optionalBool: 1"]
        #expect(zip(names, verdicts).filter { !$1 }.map(\.0) == numbers)
        #expect(verdicts.count == exports.count)
    }

    @Test(.enabled(if: SchemaValidator.isThere)) func theSchemaAcceptsItsDefaults() throws {
        let properties = try Self.properties(EveryTypePrefs(store: .memory()))
        let defaults = properties.compactMapValues { $0["default"] }.filter { $0.key != "$$lone" }
        let document = try JSONSerialization.data(withJSONObject: defaults)
        #expect(defaults.count > 30)
        // What else is in a file: the version, and the line for editors.
        let others = [
            #"{"$schema": "x.json", "int": 2}"#, #"{"PersistentPreferences version": 3}"#, #"{"$schema": 1}"#,
            #"{"PersistentPreferences version": -1}"#, #"{"$schema2": ""}"#,
        ]
        #expect(
            try Self.verdicts(EveryTypePrefs(store: .memory()).jsonSchema(), [document] + others.map { Data($0.utf8) })
                == [true, true, true, false, false, false])
    }

    private static let rejected = [
        true: [
            #"{"size": 7}"#,
            #"{"size": 73}"#,
            #"{"size": "9"}"#,
            #"{"size": 9.5}"#,
            #"{"part": 10}"#,
            #"{"scale": 0.25}"#,
            #"{"thin": 0.75}"#,
            #"{"language": "fr"}"#,
            #"{"factor": 3}"#,
            #"{"name": "a"}"#,
            #"{"name": "a-"}"#,
            #"{"list": []}"#,
            #"{"list": ["a", "b", "c"]}"#,
            #"{"set": []}"#,
            #"{"table": {"a": 1, "b": 2, "c": 3}}"#,
            #"{"both": 4}"#,
            #"{"both": 11}"#,
            #"{"other": 1}"#,
        ],
        false: [
            #"{"uint8": 256}"#,
            #"{"uint64": 18446744073709551616}"#,
            #"{"int": [null]}"#,
            #"{"bool": 2}"#,
            #"{"date": true}"#,
            #"{"data": 5}"#,
            #"{"double": {"$double": "x"}}"#,
            #"{"double": {}}"#,
            #"{"size": "huge"}"#,
            #"{"level": 2}"#,
            #"{"mode": {"x": {}}}"#,
            #"{"width": []}"#,
            #"{"server": {"port": 70000}}"#,
            #"{"server": "x"}"#,
            #"{"strings": [1]}"#,
            #"{"optionals": ["huge"]}"#,
            #"{"table": {"a": ["x"]}}"#,
            #"{"servers": [{"size": "huge"}]}"#,
        ],
    ]

    /// One process of Python for all documents of a class, because each takes as long as this test.
    @Test(.enabled(if: SchemaValidator.isThere), arguments: [true, false])
    func theSchemaRejects(_ hasBounds: Bool) throws {
        let prefs: PersistentPrefs =
            hasBounds ? BoundPrefs(store: .memory()) : EveryTypePrefs(store: .memory())
        let documents = try #require(Self.rejected[hasBounds])
        let verdicts = try Self.verdicts(prefs.jsonSchema(), documents.map { Data($0.utf8) })
        #expect(verdicts.count == documents.count)
        for (document, isValid) in zip(documents, verdicts) {
            #expect(!isValid, "\(document)")
            #expect(
                hasBounds && document.contains("thin") || prefs.import(Data(document.utf8), merge: true) != nil,
                "an import agrees: \(document)")
        }
    }

    @Test(
        arguments: [
            ("[a-z]+", true), ("(a|b)?c*", true), ("[A-Z]{2,3}-[0-9]{4}", true), (#"a\.b"#, true), ("", true),
            (".*", false),
            (#"\d"#, false), ("[^a]", false), ("é", false), ("(?i)a", false), ("(?:a)", true), ("[a&&b]", false),
            ("a(?=b)", false),
            ("^a$", false),
        ])
    func onlyPatternsThatMeanTheSameAreShared(_ pattern: String, _ isShared: Bool) {
        #expect(SharedPattern.isShared(pattern) == isShared)
    }

    @Test func noPlainCharacterEqualsAnother() {
        // Swift considers U+212A, U+037E and U+1FEF equal to K, ; and `.
        for text in ["\u{212A}", "\u{037E}", "\u{1FEF}"] {
            #expect(!TextPattern.compiled("[A-Z]").matches(text) && !TextPattern.compiled("K").matches(text), "\(text)")
        }
    }
}

/// A Python that has `jsonschema`; `Scripts/tools.sh` installs it.
private enum SchemaValidator {
    static let isThere = Hazard.canRun(
        "schema: jsonschema of Python", if: python != nil, else: "Scripts/tools.sh installs it")

    static let python = OtherReaders.program("python3", where: hasValidator)

    static func run(_ program: URL, _ arguments: [String]) throws -> Child.Result {
        try Child(program, arguments, environment: ProcessInfo.processInfo.environment).wait()
    }

    private static func hasValidator(_ python: URL) -> Bool {
        (try? run(python, ["-c", "from jsonschema import Draft202012Validator"]))?.code == 0
    }
}
