import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsJSON
import PrefsPropertyLists

/// Inspects the contents of a property-list file and their problems.
///
/// The inspection writes, moves, creates and locks nothing, and does not wait for a FIFO. Any thread.
struct FileInspection: Sendable {
    /// A problem of the contents.
    struct Problem: Sendable, Equatable {
        /// The root and the key in it; empty if the problem concerns the file as a whole.
        let keys: [String]
        /// The exact place, in the form of `PropertyListFailure.path`; empty if the problem concerns the file as a
        /// whole.
        let path: String
        /// The reason, as a clause without a full stop.
        let reason: String

        /// The place and the reason.
        var line: String {
            if keys.isEmpty, path.isEmpty { return reason }
            return "\(path.isEmpty ? "\"\"" : ShownText.path(path)): \(reason)"
        }
    }

    enum State: String, Sendable {
        /// The file is missing.
        case missing
        /// The file cannot be read, is not a regular file, or is too large.
        case unreadable
        /// The bytes are not a domain, and this package has written the file. The next write quarantines it.
        case damaged
        /// The bytes are not a domain, and this package has not written the file. Writes are rejected.
        case notOurs
        /// The file may be valid, but is not safe to parse. The engine does not change it.
        case unsafe
        /// The file was read.
        case whole
    }

    private(set) var state = State.whole
    private(set) var format: FileFormat?
    /// The number of top-level entries that are dictionaries.
    private(set) var roots = 0
    /// The number of values in all roots.
    private(set) var values = 0
    /// The number of other top-level entries. A domain of UserDefaults may have them.
    private(set) var otherEntries = 0
    private(set) var problems: [Problem] = []
    /// The bytes of a file that was read or is damaged.
    private(set) var bytes: Data?

    /// The most problems that are reported.
    private static let mostProblems = 100

    /// The line of the fault of a malformed file, counted from 1; nil for other files and for formats without lines.
    private(set) var line: Int?

    /// Inspects the file that a path leads to, through links. Waits while another program saves the file.
    ///
    /// - Parameters:
    ///   - isDomain: whether it is the file of a UserDefaults domain, which always belongs to this package.
    ///   - isJSON: whether the store of the file has the format JSON.
    init(path: String, isDomain: Bool = false, isJSON: Bool = false) {
        var target = path
        do {
            target = try PathResolution(path, system: .real).target
            FileLocation(path: target) { if isJSON { $0.add(.json) } }.waitForSave()
            guard let bytes = try Self.bytes(at: target) else {
                state = .missing
                problems = [Problem(keys: [], path: "", reason: "the file does not exist")]
                return
            }
            self.bytes = bytes
            if FileNames(path: target).isLastGoodCopy { self.bytes = try CheckedCopy.bytes(of: bytes) }
            let (content, format, loss) = try ContentCoder.decode(
                self.bytes ?? bytes, in: isJSON ? .all : .propertyLists)
            self.format = format
            if let loss { note(Problem(keys: [], path: "", reason: "\(loss), so writes are rejected")) }
            examine(content)
            if format.isXML { examineWriting(content) }
        } catch let fault as PropertyListFault where fault.isUnsupported {
            fail(.unsafe, "\(fault)")
        } catch let fault as PropertyListFault {
            let hasCopy = Self.hasLastGoodCopy(target, isJSON: isJSON)
            line = fault.line
            if isEmptied {
                fail(hasCopy ? .damaged : .missing, "is empty")
            } else {
                fail(isDomain || hasCopy ? .damaged : .notOurs, "\(fault)")
            }
        } catch let failure as StorageFailure {
            let reason = [failure.operation, failure.reason].filter { !$0.isEmpty }.joined(separator: ": ")
            fail(.unreadable, reason)
        } catch {
            fail(.unreadable, "\(error)")
        }
    }

    /// Whether there is a file without content.
    var isEmptied: Bool { bytes.map(Recovery.isBlank) ?? false }

    private mutating func fail(_ state: State, _ reason: String) {
        self.state = state
        problems = [Problem(keys: [], path: "", reason: reason)]
    }

    /// Whether a last good copy that the engine would trust is beside the file at a physical path.
    private static func hasLastGoodCopy(_ path: String, isJSON: Bool) -> Bool {
        let system = SystemCalls.real
        let names = FileNames(path: path)
        guard let file = try? system.status(ofPath: path, followsLinks: false),
            let copy = try? system.status(ofPath: names.path(of: names.lastGood), followsLinks: false)
        else { return false }
        guard copy.isTrustedCopy(of: file.owner) else { return false }
        // A copy in JSON belongs to a store with the format JSON.
        let bytes = isJSON ? nil : try? bytes(at: names.path(of: names.lastGood))
        return (try? bytes.map { try ContentCoder.decode(CheckedCopy.bytes(of: $0), in: .all) })??.format.isJSON
            != true
    }

    /// The bytes of the file at a physical path; nil if it is missing.
    private static func bytes(at path: String) throws(StorageFailure) -> Data? {
        let system = SystemCalls.real
        let names = FileNames(path: path)
        guard let (file, first) = try system.openFile(names) else { return nil }
        let limit = PropertyListLimits.fileBytes + (names.isLastGoodCopy ? CheckedCopy.headerSize : 0)
        var status = first
        for _ in Attempts.all {
            let bytes = try system.readAll(file.descriptor, size: status.size, limit: limit)
            let now = try system.status(of: file.descriptor)
            if now == status { return bytes }
            status = now
            system.pause()
        }
        throw StorageFailure(path: path, reason: "was changed during every attempt")
    }

    // MARK: - Content

    /// Reports values that readers of XML understand differently.
    private mutating func examineWriting(_ content: [String: StoredValue]) {
        do {
            _ = try PropertyListCoder.encode(.dictionary(content), as: .plainXML)
        } catch {
            let path = error.path.isEmpty ? "" : "\(ShownText.path(error.path)): "
            note(
                Problem(keys: [], path: "", reason: "\(path)\(error.reason), so other programs may read it differently")
            )
        }
    }

    private mutating func examine(_ content: [String: StoredValue]) {
        for (name, entry) in content.sorted(by: { $0.key < $1.key }) {
            do {
                try NameVetting.checkRoot(name)
            } catch {
                if case .invalidName(_, let reason) = error { note(Problem(keys: [name], path: name, reason: reason)) }
            }
            guard let root = entry.dictionary else {
                otherEntries += 1
                vet(entry, [name], name)
                continue
            }
            roots += 1
            values += root.count
            for (key, value) in root.sorted(by: { $0.key < $1.key }) { vet(value, [name, key], key) }
            guard root.estimatedBytes > PropertyListLimits.rootBytes else { continue }
            note(
                Problem(
                    keys: [name], path: name,
                    reason: "the root is larger than \(PropertyListLimits.rootBytes >> 20) MiB: nothing can be added"))
        }
    }

    /// Vets a root value by value, as a write does.
    private mutating func vet(_ value: StoredValue, _ keys: [String], _ key: String) {
        do {
            try PropertyListVetter.check(value)
        } catch {
            // A dictionary has its members in any order.
            let failures = error.failures(forKey: key).sorted(byText: \.path)
            // Other programs may have stored values that this package cannot write.
            for failure in failures where failure.reason != UnsupportedValue.uid {
                let path = (keys.dropLast() + [failure.path]).joined(separator: ".")
                note(Problem(keys: keys, path: path, reason: failure.reason))
            }
        }
    }

    /// Whether the entries are the keys of the class.
    private var hasFlatLayout = false

    /// Reports the values that the class of the preferences cannot read.
    mutating func check(_ prefs: PersistentPrefs) {
        guard state == .whole else { return }
        // The values of layers are not in the file.
        let stored = prefs.readingStored { $0 } ?? [:]
        if prefs.hasFlatLayout {
            hasFlatLayout = true
            values = stored.count
        }
        for problem in prefs.problems() {
            // The file and the layers are no part of the root.
            let root = prefs.hasFlatLayout || problem.topLevelKey.isEmpty ? [] : [prefs.key]
            // A key that the class does not have may be a typing error, so no command removes it.
            let isKey = prefs.allowedKeyList.contains(problem.topLevelKey)
            note(
                Problem(
                    keys: isKey ? root + [problem.topLevelKey] : [],
                    path: (root + [problem.path]).joined(separator: "."),
                    reason: problem.reasonInLayer))
        }
        let unknown = stored.sortedByBytes.flatMap { key, value in
            prefs.unknownFields(in: value, of: key).map { (key, $0.path, $0.known) }
        }
        for (key, path, known) in unknown {
            let root = prefs.hasFlatLayout ? "" : "\(prefs.key)."
            let name = if case .key(let name)? = path.steps.last { name } else { key }
            // In formats other than JSON, reports only a name that resembles a field, because another version may know
            // the others.
            guard format?.isJSON == true || NearestWord(among: known).nearest(to: name) != nil else { continue }
            note(
                Problem(
                    keys: [], path: root + path.text,
                    reason: "is not a field of its type" + Suggestion.text(name, among: known)))
        }
    }

    /// "a binary property list, 2 roots, 7 values"
    var summary: String {
        let name =
            if format?.isXML == true {
                "an XML property list"
            } else {
                format?.isJSON == true ? "JSON" : "a binary property list"
            }
        let others = otherEntries > 0 ? ", \(ValueText.count(otherEntries, "other entry", "other entries"))" : ""
        if hasFlatLayout { return "\(name), \(ValueText.count(values, "value"))" }
        // JSON with other entries than dictionaries has no roots of this package.
        if format?.isJSON == true, otherEntries > 0 {
            return "\(name), \(ValueText.count(roots + otherEntries, "entry", "entries"))"
        }
        if roots == 0, otherEntries > 0 { return "\(name), \(ValueText.count(otherEntries, "value"))" }
        return "\(name), \(ValueText.count(roots, "root")), \(ValueText.count(values, "value"))\(others)"
    }

    private mutating func note(_ problem: Problem) {
        if problems.count < Self.mostProblems { problems.append(problem) }
    }
}
