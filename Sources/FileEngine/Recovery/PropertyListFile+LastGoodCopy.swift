package import Foundation
package import PrefsPropertyLists

/// The bytes of the last commit, kept beside the file in case another program damages it.
extension PropertyListFile {
    /// Writes the copy in place, after the file has its name. It is not flushed, because it is read only if the file is
    /// damaged.
    ///
    /// If there is no room for the copy, the write still succeeds. The copy of the previous state is removed then,
    /// because it may contain values that this commit has deleted.
    ///
    /// - Parameter known: the status of the file, if it could be read.
    /// - Throws: the error if a copy of an older state could not be removed.
    func writeLastGoodCopy(
        _ bytes: FileBytes, checksum: UInt64?, of file: OpenFile, _ known: FileStatus?, under writeLock: WriteLock
    ) throws(StorageFailure) {
        if writeLock.isTransient { return }
        do throws(StorageFailure) {
            let status = if let known { known } else { try system.status(of: file.descriptor) }
            guard try writeLock.isLockFileInPlace() else {
                // Another writer may be writing a copy of a newer state.
                throw StorageFailure(path: "", reason: "its lock file was removed during the update")
            }
            let copy = CheckedCopy.copy(of: bytes, checksum: checksum)
            guard let (old, size) = writableCopy(like: file, status, under: writeLock) else {
                return try replaceCopy(copy, of: file, status, under: writeLock)
            }
            try system.writeAll(copy, to: old.descriptor)
            if size > copy.count { try system.truncate(old.descriptor, to: copy.count) }
        } catch {
            do {
                try system.remove(names.lastGood, in: writeLock.folder)
            } catch  where error.code == ENOENT || !isTrustedCopyThere(under: writeLock) {}
        }
    }

    func removeLastGoodCopy(under writeLock: WriteLock) throws(StorageFailure) {
        do {
            try system.remove(names.lastGood, in: writeLock.folder)
        } catch  where error.code == ENOENT {}
    }

    /// The copy, if it may be written over: it has this form, only the owner of the file can open it, and it has no
    /// second name.
    ///
    /// A copy of the first edition is replaced, because without a header half of it would look like the whole.
    private func writableCopy(
        like file: OpenFile, _ status: FileStatus, under writeLock: WriteLock
    ) -> (file: OpenFile, size: Int)? {
        guard
            let (copy, there) = try? system.openFile(names.lastGood, in: writeLock.folder, O_RDWR),
            there.isTrustedCopy(of: status.owner), there.links == 1,
            there.permissions == Permissions.owner(of: status).mode,
            system.protection(of: copy.descriptor) == system.protection(of: file.descriptor),
            let start = try? system.readAll(copy.descriptor, size: CheckedCopy.magic.count, limit: .max),
            Array(start) == CheckedCopy.magic
        else { return nil }
        return (copy, there.size)
    }

    private func replaceCopy(
        _ copy: Data, of file: OpenFile, _ status: FileStatus, under writeLock: WriteLock
    ) throws(StorageFailure) {
        let new = try makeTemporary(
            FileBytes(copy), like: .owner(of: status), protectedAs: file, under: writeLock)
        do throws(StorageFailure) {
            try system.rename(names.temporary, to: names.lastGood, in: writeLock.folder)
        } catch {
            removeOwn(names.temporary, new.file, under: writeLock)
            throw error
        }
    }

    /// Whether the copy may be used for recovery. False for a file that another user planted.
    private func isTrustedCopyThere(under writeLock: WriteLock) -> Bool {
        guard let copy = try? system.status(ofPath: names.lastGood, in: writeLock.folder, followsLinks: false),
            let file = try? system.status(ofPath: names.file, in: writeLock.folder, followsLinks: false)
        else { return true }
        return copy.isTrustedCopy(of: file.owner)
    }

    // MARK: - Reading

    enum LastGoodCopy {
        /// There is no trusted copy. In a shared folder, other users can plant one.
        case missing
        /// The file belongs to a store with a format that no store of this process has.
        case ofOtherFormat
        /// The copy is damaged, because another program has changed it, its writer was killed, or a writer is writing
        /// it. In the last two cases its status is known.
        case damaged(tornSince: FileStatus?)
        case usable(RememberedState, Date)

        var isOurs: Bool {
            switch self {
            case .missing, .ofOtherFormat: false
            case .damaged, .usable: true
            }
        }
    }

    /// - Throws: `FileError.unreadable` if the copy cannot be read, because it may hold the newest state.
    func lastGoodCopy(beside bytes: MalformedBytes, under writeLock: WriteLock?) throws(FileError) -> LastGoodCopy {
        let copy: LastGoodCopy
        do {
            copy = try lastGoodCopy(of: [bytes.source.status.owner], under: writeLock)
        } catch {
            throw .unreadable(error.at(names.path(of: names.lastGood)))
        }
        // A copy that was cut off does not show its format, but the beginning of the file does.
        if case .damaged = copy, bytes.source.format == nil, currentMirror == nil,
            bytes.source.bytes.joined.withUnsafeBytes(ForeignText.bracket) != nil
        {
            return .ofOtherFormat
        }
        return copy
    }

    /// - Parameter owners: the users whose copy is trusted.
    @inline(never)
    func lastGoodCopy(of owners: Set<UInt32>, under writeLock: WriteLock?) throws(StorageFailure) -> LastGoodCopy {
        if let writeLock { return try lastGoodCopy(names.lastGood, in: writeLock.folder, of: owners) }
        return try system.withFolder(of: FileNames(path: names.path(of: names.lastGood))) {
            folder, name throws(StorageFailure) in
            try lastGoodCopy(name, in: folder, of: owners)
        }
    }

    private func lastGoodCopy(
        _ name: String, in folder: SystemCalls.Descriptor, of owners: Set<UInt32>
    ) throws(StorageFailure) -> LastGoodCopy {
        // Checked before the copy is opened, because a file that another user planted must not prevent a read.
        guard let planted = try system.status(ofPath: name, in: folder, followsLinks: false),
            planted.isTrustedCopy(of: owners),
            let (file, status) = try system.openFile(name, in: folder), status.isTrustedCopy(of: owners)
        else { return .missing }
        let limit = PropertyListLimits.fileBytes + CheckedCopy.headerSize
        let copied = try system.readAll(file.descriptor, size: status.size, limit: limit)
        guard let bytes = try? CheckedCopy.bytes(of: copied) else { return .damaged(tornSince: status) }
        do {
            // Bytes with a valid checksum are not damaged.
            if currentMirror == nil, copied.starts(with: CheckedCopy.magic),
                bytes.withUnsafeBytes(rules.formats.recognizing) == nil
            {
                return .ofOtherFormat
            }
            let list = try Self.decode(bytes, as: topLevel, in: rules.formats)
            let state = RememberedState(
                content: list.content, format: list.format, loss: list.loss,
                text: list.format.coder.isForPeople ? FileBytes(bytes) : nil, changed: status.modified)
            return .usable(state, status.modified.date)
        } catch {
            return .damaged(tornSince: nil)
        }
    }
}

extension FileStatus.Time {
    fileprivate var date: Date {
        Date(timeIntervalSince1970: TimeInterval(seconds) + TimeInterval(nanoseconds) / 1e9)
    }
}

// MARK: - The form of a copy

/// The form of a last good copy: a line with the length and the checksum of the bytes, then the bytes of the commit.
///
/// A copy is written in place and is not flushed. After a kill or a power cut it may be a mixture of two copies; then
/// the checksum is wrong. Copies of the first edition have no such line. `tail -n +2` prints the bytes of a copy.
package enum CheckedCopy {
    /// The first bytes of a copy. The first byte distinguishes it from the formats of property lists.
    static let magic = Array("PrefsCopy 1 ".utf8)
    /// The magic and two numbers of 16 hexadecimal digits, each with a blank or a line feed after it.
    package static let headerSize = magic.count + 2 * 17

    /// - Parameter checksum: the checksum of the bytes, if it is known.
    static func copy(of bytes: FileBytes, checksum: UInt64? = nil) -> Data {
        var copy = Data(capacity: headerSize + bytes.count)
        copy.append(contentsOf: magic)
        copy.append(contentsOf: digits(UInt64(bytes.count), " ") + digits(checksum ?? Self.checksum(bytes), "\n"))
        bytes.forEachPart { copy.append($0) }
        return copy
    }

    /// The bytes of the commit. A copy of the first edition has no header and is returned unchanged.
    ///
    /// - Throws: `DecodingFailure.malformed` for a torn copy.
    package static func bytes(of copy: Data) throws(DecodingFailure) -> Data {
        let header = Array(copy.prefix(headerSize))
        guard header.starts(with: magic) else { return copy }
        let numbers = header.dropFirst(magic.count)
        // The copy may be longer, if its writer was killed before it cut off the rest of a longer copy.
        guard let length = number(numbers.prefix(16)), let checksum = number(numbers.dropFirst(17).prefix(16)),
            length <= copy.count - headerSize
        else { throw .malformed("is half written") }
        let bytes = copy.dropFirst(headerSize).prefix(Int(length))
        guard Self.checksum(FileBytes(bytes)) == checksum else { throw .malformed("is half written") }
        return Data(bytes)
    }

    /// A checksum that detects the effects of a kill or a power cut. It does not protect against people, who can write
    /// a whole copy.
    @inline(never) package static func checksum(_ bytes: FileBytes) -> UInt64 {
        var sum = UInt64(bytes.count)
        bytes.forEachPart { part in sum = part.withUnsafeBytes { mix(sum, $0) } }
        return sum
    }

    private static func mix(_ sum: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        // Each step is reversible, so that a change of a single word always shows.
        func mix(_ sum: UInt64, _ word: UInt64) -> UInt64 {
            let product = (sum ^ word) &* 0x9E37_79B9_7F4A_7C15
            return product ^ product >> 32
        }
        var sum = sum
        let words = bytes.count / 8 * 8
        for start in stride(from: 0, to: words, by: 8) {
            sum = mix(sum, UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)))
        }
        for byte in bytes[words...] { sum = mix(sum, UInt64(byte)) }
        return sum
    }

    private static func digits(_ number: UInt64, _ end: Unicode.Scalar) -> [UInt8] {
        let digits = stride(from: 60, through: 0, by: -4).map { shift in
            let digit = UInt8(truncatingIfNeeded: number >> UInt64(shift) & 0xF)
            return digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
        return digits + [UInt8(ascii: end)]
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        let number = strtoull(String(decoding: digits, as: UTF8.self), nil, 16)
        return Self.digits(number, " ").dropLast() == digits ? number : nil
    }
}
