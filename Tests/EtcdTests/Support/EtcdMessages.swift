import Foundation

/// The messages of etcd as JSON, with the names of its gateway: those of requests as texts, those of answers from texts.
enum EtcdMessages {
    private indirect enum Kind: Sendable {
        case number, flag, bytes, text
        /// A choice, whose names are the numbers.
        case choice([String])
        case message([Field])
    }

    private struct Field: Sendable {
        let number: Int
        let name: String
        let kind: Kind
        var isList = false

        init(_ number: Int, _ name: String, _ kind: Kind, isList: Bool = false) {
            (self.number, self.name, self.kind, self.isList) = (number, name, kind, isList)
        }
    }

    private static let range: [Field] = [
        Field(1, "key", .bytes), Field(2, "rangeEnd", .bytes), Field(3, "limit", .number),
        Field(4, "revision", .number), Field(5, "sortOrder", .number), Field(6, "sortTarget", .number),
        Field(8, "keysOnly", .flag), Field(13, "maxCreateRevision", .number),
    ]
    private static let operation: [Field] = [
        Field(1, "requestRange", .message(range)),
        Field(
            2, "requestPut",
            .message([Field(1, "key", .bytes), Field(2, "value", .bytes), Field(3, "lease", .number)])),
        Field(3, "requestDeleteRange", .message([Field(1, "key", .bytes)])),
    ]
    private static let create = [
        Field(1, "key", .bytes), Field(2, "rangeEnd", .bytes), Field(3, "startRevision", .number),
    ]
    private static let requests: [String: [Field]] = [
        "KV/Range": range,
        "KV/Txn": [
            Field(
                1, "compare",
                .message([
                    Field(2, "target", .number), Field(3, "key", .bytes), Field(6, "modRevision", .number),
                    Field(64, "rangeEnd", .bytes),
                ])), Field(2, "success", .message(operation)), Field(3, "failure", .message(operation)),
        ],
        "Watch/Watch": [Field(1, "createRequest", .message(create))],
        "Lease/LeaseGrant": [Field(1, "TTL", .number)],
        "Auth/Authenticate": [Field(1, "name", .text), Field(2, "password", .text)],
    ]

    private static let header = Field(
        1, "header", .message([Field(3, "revision", .number), Field(4, "raft_term", .number)]))
    private static let entry: [Field] = [
        Field(1, "key", .bytes), Field(2, "create_revision", .number), Field(3, "mod_revision", .number),
        Field(4, "version", .number), Field(5, "value", .bytes), Field(6, "lease", .number),
    ]
    private static let rangeReply: [Field] = [
        header, Field(2, "kvs", .message(entry), isList: true), Field(3, "more", .flag), Field(4, "count", .number),
    ]
    private static let lease: [Field] = [header, Field(2, "ID", .number), Field(3, "TTL", .number)]
    private static let replies: [String: [Field]] = [
        "KV/Range": rangeReply,
        "KV/Txn": [
            header, Field(2, "succeeded", .flag),
            Field(
                3, "responses", .message([Field(1, "response_range", .message(rangeReply))]), isList: true),
        ],
        "Watch/Watch": [
            header, Field(3, "created", .flag), Field(4, "canceled", .flag), Field(6, "cancel_reason", .text),
            Field(
                11, "events",
                .message([Field(1, "type", .choice(["PUT", "DELETE"])), Field(2, "kv", .message(entry))]), isList: true),
        ],
        "Lease/LeaseGrant": lease, "Lease/LeaseKeepAlive": lease, "Lease/LeaseRevoke": [header],
        "Auth/Authenticate": [header, Field(2, "token", .text)],
    ]

    // MARK: - Requests

    static func json(ofRequest message: [UInt8], to method: String) -> String {
        json(message[...], requests[method] ?? [])
    }

    private static func json(_ message: ArraySlice<UInt8>, _ fields: [Field]) -> String {
        var (rest, members) = (message, [] as [String])
        func number() -> Int {
            var (number, shift) = (0, 0)
            while let byte = rest.popFirst() {
                number |= Int(byte & 127) << shift
                shift += 7
                if byte < 128 { break }
            }
            return number
        }
        while !rest.isEmpty {
            let tag = number()
            let field = fields.first { $0.number == tag >> 3 }
            let value = number()
            var content: ArraySlice<UInt8> = []
            if tag & 7 == 2 {
                content = rest.prefix(value)
                rest = rest.dropFirst(value)
            }
            guard let field else { continue }
            let text =
                switch field.kind {
                case .number, .choice: "\"\(value)\""
                case .flag: value == 0 ? "false" : "true"
                case .bytes: "\"\(Data(content).base64EncodedString())\""
                case .text: "\"\(String(decoding: content, as: UTF8.self))\""
                case .message(let fields): json(content, fields)
                }
            members.append("\"\(field.name)\":\(text)")
        }
        return "{" + members.joined(separator: ",") + "}"
    }

    // MARK: - Answers

    /// - Parameter json: a member `result` is the message itself.
    static func reply(_ json: String, of method: String) -> [UInt8] {
        let all = (try? JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]) ?? [:]
        var object = all["result"] as? [String: Any] ?? all
        // Only an empty answer has none.
        if !object.isEmpty, object["header"] == nil { object["header"] = [:] as [String: Any] }
        return message(object, replies[method] ?? [])
    }

    private static func message(_ object: [String: Any], _ fields: [Field]) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields {
            guard let value = object[field.name] else { continue }
            for value in field.isList ? value as? [Any] ?? [] : [value] {
                func add(_ content: some Collection<UInt8>) {
                    bytes += Frame.varint(field.number << 3 | 2) + Frame.varint(content.count) + content
                }
                func add(_ number: Int) { bytes += Frame.varint(field.number << 3) + Frame.varint(number) }
                switch field.kind {
                case .number: add((value as? Int) ?? Int(value as? String ?? "") ?? 0)
                case .flag: add(value as? Bool == true ? 1 : 0)
                case .bytes: add(Data(base64Encoded: value as? String ?? "") ?? Data())
                case .text: add((value as? String ?? "").utf8)
                case .choice(let names): add(names.firstIndex(of: value as? String ?? "") ?? 0)
                case .message(let fields): add(message(value as? [String: Any] ?? [:], fields))
                }
            }
        }
        return bytes
    }
}
