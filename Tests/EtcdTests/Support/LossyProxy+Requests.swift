import Foundation

extension LossyProxy {
    /// A call of a client, as text and as the frames to pass on.
    struct Request {
        let text: String
        let method: String
        let frames: [Frame]
        var isStream: Bool { method == "Watch/Watch" }
    }

    /// A request whose frames have come, without the end of the request if it is a watch.
    static func readRequest(from client: FramedSocket) -> (Request, UInt32)? {
        var frames: [Frame] = []
        var (path, token) = ("", "")
        while let frame = client.next() {
            if frame.kind == Frame.headers {
                let fields = fields(of: frame.content)
                path = fields[":path"] ?? ""
                token = fields["token"].map { "token \($0) " } ?? ""
                frames = []
            }
            guard frame.kind <= Frame.headers, !path.isEmpty else { continue }
            frames.append(frame)
            let content = frames.dropFirst().flatMap(\.content)
            let method = path.components(separatedBy: "etcdserverpb.").last ?? ""
            let isStream = ["Watch/Watch", "Lease/LeaseKeepAlive"].contains(method)
            guard isStream ? content.count > 5 : frame.flags & Frame.endsStream != 0 else { continue }
            var (rest, texts) = (content[...], [] as [String])
            while rest.count >= 5 {
                let length = Frame.number(rest.dropFirst().prefix(4))
                texts.append(EtcdMessages.json(ofRequest: Array(rest.dropFirst(5).prefix(length)), to: method))
                rest = rest.dropFirst(5 + length)
            }
            let text = "call \(method) \(token)\(texts.joined(separator: " "))"
            return (Request(text: text, method: method, frames: frames), frame.stream)
        }
        return nil
    }

    /// The fields that the client writes: some have a number for their name.
    private static func fields(of block: [UInt8]) -> [String: String] {
        let names: [UInt8: String] = [1: ":authority", 4: ":path", 31: "content-type"]
        var (rest, fields) = (block[...], [:] as [String: String])
        func number(_ most: UInt8) -> Int {
            guard let first = rest.popFirst(), first & most == most else {
                return Int(block[rest.startIndex - 1] & most)
            }
            var (number, shift) = (Int(most), 0)
            while let byte = rest.popFirst() {
                number += Int(byte & 127) << shift
                shift += 7
                if byte < 128 { break }
            }
            return number
        }
        func text() -> String {
            let length = number(127)
            defer { rest = rest.dropFirst(length) }
            return String(decoding: rest.prefix(length), as: UTF8.self)
        }
        while let first = rest.first {
            if first & 0x80 != 0 {
                rest = rest.dropFirst()
                continue
            }
            let index = number(15)
            let name = index == 0 ? text() : names[UInt8(index)] ?? ""
            fields[name] = text()
        }
        return fields
    }

    /// An answer of a test.
    static func frames(of answer: String, to method: String) -> [Frame] {
        guard let space = answer.firstIndex(of: " ") else { return [] }
        let (status, body) = (String(answer[..<space]), String(answer[answer.index(after: space)...]))
        let object = try? JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
        if let code = object?["code"] as? Int {
            let message = (object?["message"] as? String ?? "").utf8.map { byte in
                (0x20...0x7E).contains(byte) && byte != 0x25
                    ? String(UnicodeScalar(byte)) : "%" + String(byte + 0, radix: 16, uppercase: true).leftPadded
            }
            return [
                .headers(
                    [
                        ":status": "200", "content-type": "application/grpc", "grpc-status": "\(code)",
                        "grpc-message": message.joined(),
                    ], of: 1, flags: Frame.endsStream | Frame.endsHeaders)
            ]
        }
        guard status == "200" else {
            return [.headers([":status": status], of: 1)] + Frame.data(Array(body.utf8), of: 1, endsStream: true)
        }
        let message = Frame.message(EtcdMessages.reply(body, of: method))
        return [.headers([":status": "200", "content-type": "application/grpc"], of: 1)] + Frame.data(message, of: 1)
            + [
                .headers(["grpc-status": "0"], of: 1, flags: Frame.endsStream | Frame.endsHeaders)
            ]
    }
}

extension String {
    /// Of two digits at least.
    fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}
