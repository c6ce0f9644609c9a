@testable import PrefsSupport
import Foundation

@testable import PrefsFileEngine

/// Reads and changes the files of a sequence like other programs, with Foundation alone.
extension ModelSubject {
    /// Distinguishes a file from a file that has replaced it, and from the file after a change.
    struct Fingerprint: Equatable {
        let status: FileStatus?
        let bytes: Data?
    }

    /// A file read by Foundation. The content is nil if the file is missing, or has bytes that Foundation should not
    /// parse.
    struct Found {
        let content: [ModelText: ModelValue]?
        let isXML: Bool
    }

    func url(_ place: ModelPlace) -> URL { folder.file(place.fileName) }

    func fingerprint(_ place: ModelPlace) throws -> Fingerprint {
        let path = url(place).path
        return Fingerprint(
            status: try SystemCalls.real.status(ofPath: path, followsLinks: false),
            bytes: FileManager.default.contents(atPath: path))
    }

    func found(_ place: ModelPlace) throws -> Found {
        guard let bytes = try? Data(contentsOf: url(place)), bytes != damages[place] else {
            return Found(content: nil, isXML: place == .xml)
        }
        let list = try PropertyListSerialization.propertyList(from: bytes, options: [], format: nil)
        guard let content = try ModelValue(list, isStrict: false).entries else {
            throw ModelValue.NotCanonical(description: "no dictionary on top")
        }
        return Found(content: content, isXML: !bytes.starts(with: Data("bplist".utf8)))
    }

    /// The bytes of the quarantined files beside a file, sorted. Throws if another file is there.
    func asides(_ place: ModelPlace, among names: [String]) throws -> [[UInt8]] {
        let asides = names.filter { $0.hasPrefix(place.fileName + ".corrupt-") }
        // Not what was known of a missing file.
        return try asides.map { [UInt8](try Data(contentsOf: folder.file($0))) }
            .filter { !$0.starts(with: CheckedCopy.magic) }.sorted { $0.lexicographicallyPrecedes($1) }
    }

    // MARK: - Changes

    func apply(_ edit: ModelEdit) throws {
        switch edit {
        case .change(let place, let change):
            try self.change(place, change)
        case .remove(let place):
            damages[place] = nil
            // Removes the copy, too, because a missing file with a copy counts for a moment as being saved.
            for name in [place.fileName, ".\(place.fileName).lastgood"] {
                try? FileManager.default.removeItem(at: folder.file(name))
            }
        case .damage(let place, let damage, let inPlace):
            let now = try? Data(contentsOf: url(place))
            var bytes = damage.bytes(of: now ?? Data())
            // A file that is cut for a second time may be unchanged or empty.
            if bytes == now { bytes = Data("other".utf8) }
            damages[place] = bytes
            // Within one step of the clock, only a new size shows a change of a file that counts as old.
            if inPlace, bytes.count != now?.count {
                try bytes.write(to: url(place))
            } else {
                try replace(place, with: bytes)
            }
        case .link(let place):
            let name = folder.file("link.new").path
            try FileManager.default.createSymbolicLink(atPath: name, withDestinationPath: place.fileName)
            rename(name, folder.file("link.plist").path)
        }
    }

    private func change(_ place: ModelPlace, _ change: ModelEdit.Change) throws {
        let now = try found(place)
        var content = now.content ?? [:]
        var isXML = now.isXML
        switch change {
        case .assign(let root, let key, let value):
            var entries = content[ModelText(root)]?.entries ?? [:]
            entries[ModelText(key)] = value
            content[ModelText(root)] = .dictionary(entries)
        case .removeRoot(let root): content[ModelText(root)] = nil
        case .spoilRoot(let root): content[ModelText(root)] = .list([.integer(1)])
        case .rewrite(let asXML): isXML = asXML
        }
        // Foundation loses a leading U+FEFF of a text in XML.
        if content.contains(where: { $0.key.hasMark || $0.value.hasMark }) { isXML = false }
        damages[place] = nil
        let bytes = try PropertyListSerialization.data(
            fromPropertyList: ModelValue.object(content), format: isXML ? .xml : .binary, options: 0)
        try replace(place, with: bytes)
    }

    private func replace(_ place: ModelPlace, with bytes: Data) throws {
        let new = folder.file("\(place.fileName).theirs")
        try bytes.write(to: new)
        rename(new.path, url(place).path)
    }
}

extension ModelEdit.Damage {
    fileprivate func bytes(of good: Data) -> Data {
        switch self {
        case .empty: Data()
        case .text: Data("hello".utf8)
        case .oldStyle: Data("{}".utf8)
        case .arrayOnTop: Data("<?xml version=\"1.0\"?><plist version=\"1.0\"><array/></plist>".utf8)
        case .cut: good.prefix(good.count / 2)
        }
    }
}
