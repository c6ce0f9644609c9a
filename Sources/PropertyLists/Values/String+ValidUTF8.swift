extension String {
    /// The text of UTF-8 bytes; nil if they are not UTF-8. Replaces `String(validating:as:)`, which needs macOS 15 and iOS 18.
    package init?(validUTF8 bytes: some Collection<UInt8>) {
        let text = String(decoding: bytes, as: UTF8.self)
        // A repair makes other bytes, because its result is UTF-8.
        guard text.utf8.elementsEqual(bytes) else { return nil }
        self = text
    }
}
