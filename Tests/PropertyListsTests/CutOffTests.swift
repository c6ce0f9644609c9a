import Foundation
import Testing

@testable import PrefsPropertyLists

/// A program that writes in place leaves a beginning of its file for a moment.
@Suite struct CutOffTests {
    private static let xml = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <!-- mine -->
        <plist version="1.0">
        <dict>
            <key>a</key><integer>12</integer>
            <key>é&amp;&#233;</key><string>“x” <![CDATA[<y>]]></string>
            <key>list</key><array><true/><real>1.5</real><data>AAEC</data><date>2026-11-28T10:00:00Z</date></array>
            <key>empty</key><string/>
        </dict>
        </plist>
        <!-- end -->
        """

    private static func file(_ format: FileFormat) throws -> Data {
        let bytes = Data(xml.utf8)
        if format == .xml { return bytes }
        return try PropertyListCoder.encode(PropertyListCoder.decode(bytes).value, as: format)
    }

    /// Each beginning of a good file is known to be cut off, unless it is the same list.
    @Test(arguments: [FileFormat.binary, .xml]) func eachBeginningOfAFileIsIncomplete(_ format: FileFormat) throws {
        let bytes = try Self.file(format)
        let value = try PropertyListCoder.decode(bytes).value
        for count in 0..<bytes.count {
            do {
                let list = try PropertyListCoder.decode(bytes.prefix(count))
                #expect(list.value == value, "\(count) bytes are another list")
            } catch .malformed(let fault) {
                #expect(fault.isIncomplete, "\(count) bytes: \(fault)")
            } catch {
                Issue.record("\(count) bytes: \(error)")
            }
        }
    }
}
