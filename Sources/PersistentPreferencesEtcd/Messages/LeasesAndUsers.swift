struct LeaseGrantRequest: Encodable {
    let seconds: EtcdNumber

    enum CodingKeys: String, CodingKey { case seconds = "TTL" }
}

struct LeaseRequest: Encodable {
    let id: EtcdNumber

    enum CodingKeys: String, CodingKey { case id = "ID" }
}

struct LeaseReply: Decodable {
    let id: EtcdNumber?
    let seconds: EtcdNumber?

    enum CodingKeys: String, CodingKey {
        case id = "ID"
        case seconds = "TTL"
    }
}

struct AuthenticateRequest: Encodable {
    let name: String
    let password: String
}

struct AuthenticateReply: Decodable {
    let token: String?
}
