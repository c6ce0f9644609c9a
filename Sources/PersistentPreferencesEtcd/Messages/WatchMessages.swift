import Foundation

struct WatchRequest: Encodable {
    struct Create: Encodable {
        let key: Data
        let rangeEnd: Data
        let startRevision: EtcdNumber
    }

    let createRequest: Create
}

struct WatchReply: Decodable {
    struct Event: Decodable {
        let type: String?
        let kv: EtcdKeyValue

        var isRemoval: Bool { type == "DELETE" }
    }

    let created: Bool?
    let canceled: Bool?
    let cancelReason: String?
    let events: [Event]?

    enum CodingKeys: String, CodingKey {
        case created, canceled, events
        case cancelReason = "cancel_reason"
    }
}
