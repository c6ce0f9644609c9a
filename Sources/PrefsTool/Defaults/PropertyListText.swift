import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// Values written as property-list text, as in `defaults write`: `{a=1;}`, `(a,b)`, `<48656c6c6f>`, or an XML element.
enum PropertyListText {
    private static let elements = [
        "<?xml", "<!DOCTYPE", "<plist", "<dict", "<array", "<string", "<integer", "<real", "<true", "<false", "<date",
        "<data",
    ]

    /// The deepest nesting of a text in braces, parentheses or angle brackets.
    private static let deepest = 100

    /// A text that begins with a brace or a parenthesis must be a property list in the OpenStep format. One that begins
    /// with an element of XML must be XML. Hexadecimal digits in angle brackets are data. Any other text is a string.
    static func value(of text: String) throws(UsageError) -> StoredValue {
        if elements.contains(where: { text.utf8.starts(with: $0.utf8) }) { return try xml(text) }
        let bytes = text.utf8
        let isData = text.wholeMatch(of: /< *(?:[0-9A-Fa-f] *[0-9A-Fa-f] *)*>/) != nil
        guard isData || [UInt8(ascii: "{"), UInt8(ascii: "(")].contains(bytes.first) else { return .string(text) }
        // Foundation's parser takes a frame for each level.
        let levels = bytes.reduce(into: (now: 0, most: 0)) { depth, byte in
            switch Character(UnicodeScalar(byte)) {
            case "{", "(": depth.now += 1
            case "}", ")": depth.now -= 1
            default: break
            }
            depth.most = max(depth.most, depth.now)
        }
        guard levels.most <= deepest else {
            throw UsageError("the property-list text is nested deeper than \(deepest) levels")
        }
        do {
            let object = try PropertyListSerialization.propertyList(from: Data(bytes), options: [], format: nil)
            return PropertyListVetter.value(ofStored: object)
        } catch {
            throw UsageError("the property-list text is not valid: \(reason(error)) (-string stores it as text)")
        }
    }

    private static func reason(_ error: any Error) -> String {
        let info = (error as NSError).userInfo
        // On Linux, it is an object that Swift does not see as an error. Its description quotes the reason.
        let inner = info["kCFPropertyListOldStyleParsingError"].flatMap { "\($0)".firstMatch(of: /"([^"]+)"/)?.1 }
        return inner.map(String.init) ?? info[NSDebugDescriptionErrorKey] as? String ?? "not in the OpenStep format"
    }

    private static func xml(_ text: String) throws(UsageError) -> StoredValue {
        let isDocument = elements.prefix(3).contains { text.utf8.starts(with: $0.utf8) }
        let document = isDocument ? text : "<plist version=\"1.0\">\(text)</plist>"
        do {
            return try PropertyListCoder.decode(Data(document.utf8)).value
        } catch {
            throw UsageError("the XML is not a property list: \(error.reason) (-string stores it as text)")
        }
    }
}
