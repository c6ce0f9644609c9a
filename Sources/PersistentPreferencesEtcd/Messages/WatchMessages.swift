import Foundation

struct WatchReply: EtcdReply {
    struct Event: EtcdReply {
        let isRemoval: Bool
        let kv: EtcdKeyValue

        init(_ json: ReplyJSON) throws {
            isRemoval = try json.text("type") == "DELETE"
            guard let kv: EtcdKeyValue = try json.reply("kv") else { throw ReplyJSON.Malformed() }
            self.kv = kv
        }
    }

    let isCanceled: Bool
    let cancelReason: String?
    let events: [Event]

    init(_ json: ReplyJSON) throws {
        isCanceled = try json.flag("canceled")
        cancelReason = try json.text("cancel_reason")
        events = try json.replies("events")
    }

    /// Asks for all changes of a range of keys.
    static func request(from key: Data, to end: Data, startRevision: Int64) -> String {
        let create = RequestJSON.object([
            "key": RequestJSON.bytes(key), "rangeEnd": RequestJSON.bytes(end),
            "startRevision": RequestJSON.number(startRevision),
        ])
        return RequestJSON.object(["createRequest": create])
    }
}
