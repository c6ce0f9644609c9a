import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The default place of a type's settings file.
enum SettingsFileName {
    static func url(of type: Any.Type, format: FileFormat) -> URL {
        guard let folder = try? ConfigurationFolder.path.get() else {
            // Not a file URL, so that every access fails with a message.
            return URL(string: "missing-home:") ?? URL(filePath: "/")
        }
        let name = name(of: type) + "." + format.coder.fileExtension
        let path = "\(folder)/\(ConfigurationFolder.program)/\(name)"
        return URL(filePath: path, directoryHint: .notDirectory)
    }

    /// The name of the type with the names of the types around it (`Outer.Inner`), without its module. `%` and
    /// characters that a file name cannot hold are written as `%XX`. Internal and public types of one module have
    /// different names.
    static func name(of type: Any.Type) -> String {
        let full = String(reflecting: type)
        // The description of a private or local type begins with its context, an address that changes with each build.
        let parts = full.replacing(/\(unknown context at \$[0-9a-f]+\)\./, with: "")
        let name = parts.replacing(/(^|[<, ])[^.<>, ()]+\./) { "\($0.output.1)" }
        let encoded = name.unicodeScalars.map { scalar in
            scalar.isASCII && !isSafe(UInt8(scalar.value))
                ? "%" + String(scalar.value, radix: 16, uppercase: true) : String(scalar)
        }.joined()
        return encoded.utf8.count <= 200 ? encoded : shortened(encoded)
    }

    private static func isSafe(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// The beginning of the name, and a hash (FNV-1a) of the whole name.
    private static func shortened(_ name: String) -> String {
        let hash = name.utf8.reduce(into: 0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
        var beginning = name
        while beginning.utf8.count > 180 { beginning.removeLast() }
        return "\(beginning)-\(String(hash, radix: 16))"
    }
}
