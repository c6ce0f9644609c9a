import Foundation

/// A property list as a whole, whatever its root, through the engine: locked, atomic, cached.
struct PropertyListDocument {
    private let file: FileLocation

    /// - Throws: `PrefsError.invalidName` where the URL names no file.
    init(url: URL, system: SystemCalls = .real) throws(PrefsError) {
        file = FileLocation(path: try NameVetting.path(of: url), holds: .document, system: system)
    }

    /// The root in canonical form; nil where there is no file.
    ///
    /// - Throws: `PrefsError`; `.damaged` with a file set aside comes once, and the next read gives the state of now.
    func read() throws -> Any? {
        try PrefsError.converting {
            try file.withFile { file in
                let reading = try file.read()
                if let notice = reading.notice { throw notice }
                return reading.content?[PropertyListFile.documentKey]
            }
        }
    }

    /// Replaces the root, unless it is equal. On disk when the call returns.
    ///
    /// - Parameters:
    ///   - root: in canonical form.
    ///   - base: the root that it was made of; nil where there was no file.
    /// - Throws: `PrefsError.notStored` where the root is another meanwhile.
    func write(_ root: Any, inPlaceOf base: Any?) throws {
        try PrefsError.converting {
            try file.withFile { file in
                try file.transact(durability: .powerCut) { transaction in
                    let isAsItWas =
                        switch (transaction[PropertyListFile.documentKey], base) {
                        case (nil, nil): true
                        case (let now?, let base?): Self.areEqual(now, base)
                        default: false
                        }
                    guard isAsItWas else {
                        throw PrefsError.notStored(
                            StorageFailure(
                                path: file.names.path, reason: "was changed by somebody else since it was read"))
                    }
                    transaction.replace(PropertyListFile.documentKey, with: root)
                }
            }
        }
    }

    /// As far as every format can tell: XML has rounded the dates of the one.
    private static func areEqual(_ left: Any, _ right: Any) -> Bool {
        func rounded(_ root: Any) -> [String: Any] { PropertyListCoder.storable(["": root], as: .xml) }
        return CanonicalValue.areEqual(left, right) || CanonicalValue.areEqual(rounded(left), rounded(right))
    }

    /// The root of a file that comes with the program and is never written.
    static func contents(ofResource url: URL) throws(PrefsError) -> Any {
        let path = url.path(percentEncoded: false)
        let bytes: Data
        do {
            bytes = try Data(contentsOf: url)
        } catch {
            throw .unreadable(StorageFailure(path: path, reason: "cannot be read"))
        }
        do {
            return try PropertyListCoder.decode(bytes).value
        } catch {
            switch error {
            case .damage(let reason), .excess(let reason):
                throw .unreadable(StorageFailure(path: path, reason: reason))
            }
        }
    }
}
