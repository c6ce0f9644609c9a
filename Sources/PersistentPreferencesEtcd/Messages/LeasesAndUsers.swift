struct LeaseReply: EtcdReply {
    let id: Int64
    let seconds: Int64

    init(_ json: ReplyJSON) throws {
        id = try json.number("ID")
        seconds = try json.number("TTL")
    }

    static func grant(seconds: Int64) -> String { RequestJSON.object(["TTL": RequestJSON.number(seconds)]) }
    static func keep(_ lease: Int64) -> String { RequestJSON.object(["ID": RequestJSON.number(lease)]) }
}

struct AuthenticateReply: EtcdReply {
    let token: String?

    init(_ json: ReplyJSON) throws {
        token = try json.text("token")
        // It becomes a line of a header.
        let isPrintable = token?.utf8.allSatisfy { (0x21...0x7E).contains($0) } ?? true
        guard isPrintable else { throw ReplyJSON.Malformed() }
    }

    static func request(name: String, password: String) -> String {
        RequestJSON.object(["name": RequestJSON.text(name), "password": RequestJSON.text(password)])
    }
}
