import Foundation
import PersistentPreferences
import PrefsJSON
import PrefsLayers
import PrefsStoreKit
import TestSupport
import WriteOperations

/// Kills writers of one file at random moments, in many rounds, and checks the file afterwards.
///
/// All rounds use one file, so that damage would accumulate. In every second round with several writers, one of them
/// dies first, and the others must be able to continue.
struct KillTorture {
    /// The target of the writers.
    enum Target: String, CaseIterable {
        case defaultStore = "default store"
        case fileStore = "file store"
        case jsonFile = "JSON file"
        case flatJSONFile = "flat JSON file"
        /// A JSON file that a person edits between the rounds.
        case editedJSONFile = "edited JSON file"
        /// The base of a layered store.
        case layeredJSONFile = "layered JSON file"

        var isJSON: Bool { ![.defaultStore, .fileStore].contains(self) }
    }

    /// The counts so far.
    struct Tally {
        var kills = 0
        var acknowledged = 0
        /// Kills after a commit and before its acknowledgement, at the end of a write.
        var unacknowledged = 0
        /// Kills in the middle of the last good copy.
        var torn = 0
        /// Kills that left a temporary file, in the middle of a write.
        var interrupted = 0
        /// A sentence for each loss, damage, leftover, held lock or crash.
        var violations: [String] = []
    }

    private(set) var tally = Tally()
    private let target: Target
    private let writers: Int
    private let home: TemporaryFolder
    private let file: URL
    private var generator: SeededGenerator
    private var rounds = 0
    /// The numbers in the file after the last round, by writer.
    private var standing: [Int]

    private static let foreign = ["kept": "as it is"]

    init(_ target: Target, writers: Int, seed: UInt64) throws {
        self.target = target
        self.writers = writers
        generator = SeededGenerator(seed: seed)
        standing = Array(repeating: 0, count: writers)
        home = try TemporaryFolder()
        let name = target == .fileStore ? "torture.plist" : "torture.json"
        file = home.file(target == .defaultStore ? ".config/Probe.plist" : "files/\(name)")
        // An entry of another program, once in the format that UserDefaults writes.
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: false)
        let content = ["Other": Self.foreign]
        if target == .layeredJSONFile {
            let covered = ["TorturePrefs": [TortureWriter.covered.key: TortureWriter.covered.value]]
            try JSONEncoder().encode(covered).write(to: layer)
        }
        if target.isJSON {
            try JSONEncoder().encode(content).write(to: file)
        } else {
            try writePropertyList(content, to: file, as: target == .defaultStore && writers == 1 ? .xml : .binary)
        }
    }

    /// Runs until a number of writers were killed, or a violation was found.
    mutating func run(kills: Int) {
        while tally.kills < kills, tally.violations.isEmpty {
            do {
                try round(Array((0..<writers).shuffled(using: &generator).prefix(kills - tally.kills)))
            } catch {
                violation("a writer or its file: \(error)")
            }
            rounds += 1
        }
    }

    // MARK: - One round

    private final class Victim {
        let index: Int
        let child: PipedChild
        let found: Int
        /// The last number that it acknowledged; before that, the number that it found.
        private(set) var acknowledged: Int

        init(_ index: Int, _ child: PipedChild) throws {
            (self.index, self.child) = (index, child)
            found = try Int(child.line()) ?? -1
            acknowledged = found
        }

        func awaitAcknowledgement() throws { try take(child.line()) }

        func takeAcknowledgements() throws { try child.linesSoFar().forEach(take) }

        private func take(_ line: String) throws {
            guard Int(line) == acknowledged + 1 else {
                throw TortureWriter.Damage(reason: "writer \(index) acknowledges \(line) after \(acknowledged)")
            }
            acknowledged += 1
        }
    }

    private mutating func round(_ indices: [Int]) throws {
        if target == .editedJSONFile { try edit() }
        var victims: [Victim] = []
        for child in try indices.map({ ($0, try start($0)) }) { victims.append(try Victim(child.0, child.1)) }
        for victim in victims where victim.found != standing[victim.index] {
            violation("writer \(victim.index) found \(victim.found), not \(standing[victim.index])")
        }
        for victim in victims { try victim.awaitAcknowledgement() }
        var isDead = Set<Int>()
        if victims.count > 1, rounds.isMultiple(of: 2) {
            let first = victims.removeFirst()
            try letRun(victims)
            try kill([first])
            isDead.insert(first.index)
            // The other writers continue, so the dead writer does not hold the lock.
            for _ in 0..<2 { for victim in victims { try victim.awaitAcknowledgement() } }
            try look(at: victims + [first], dead: isDead)
            victims.append(first)
        }
        let living = victims.filter { !isDead.contains($0.index) }
        try letRun(living)
        try kill(living)
        tally.acknowledged += victims.map { $0.acknowledged - $0.found }.reduce(0, +)
        try look(at: victims, dead: Set(indices))
        if FileManager.default.fileExists(atPath: beside("tmp").path) { tally.interrupted += 1 }
        if isLocked(file) { violation("the lock is not free") }
        try reopen()
    }

    private func start(_ index: Int) throws -> PipedChild {
        let operations = WriteOperation.of(.instance).filter {
            $0 == .subscripted || $0.storesSeveralKeys && $0.keepsOtherKeys && $0 != .initializer
        }
        var arguments = ["torture", "\(index)", operations[(index + rounds / 2) % operations.count].rawValue]
        if target != .defaultStore { arguments.append(file.path) }
        if target == .flatJSONFile { arguments.append("flat") }
        if target == .layeredJSONFile { arguments.append(layer.path) }
        return try PipedChild("Probe", arguments, home: home)
    }

    private var layer: URL { home.file("layer.json") }

    /// Edits the file as an editor does: indented, with the keys in another order, and every second time with the line
    /// ends of Windows; replaced or written in place.
    private func edit() throws {
        let bytes = try Data(contentsOf: file)
        let pretty = try JSONSerialization.data(
            withJSONObject: JSONSerialization.jsonObject(with: bytes), options: .prettyPrinted)
        let text = String(decoding: pretty, as: UTF8.self)
        let isOdd = !rounds.isMultiple(of: 2)
        let edited = Data((isOdd ? text.replacingOccurrences(of: "\n", with: "\r\n") : text + "\n\n").utf8)
        try edited.write(to: file, options: isOdd ? .atomic : [])
    }

    /// Lets the victims make up to eight more writes, and then chooses a random moment. Most of a write is spent in
    /// memory, so two of three moments are chosen after the temporary file has appeared, or has become the file or its
    /// copy. Many of them are shortly after it.
    private mutating func letRun(_ victims: [Victim]) throws {
        let writes = Int.random(in: 0...8, using: &generator)
        for _ in 0..<writes { try victims[0].awaitAcknowledgement() }
        let sights = [[], [true], [true, false]].randomElement(using: &generator) ?? []
        let longest = [0, 50, 300, 1_500].randomElement(using: &generator) ?? 0
        let delay = Duration.microseconds(Int.random(in: 0...longest, using: &generator))
        let temporary = beside("tmp").path
        let limit = ContinuousClock.now + .milliseconds(50)
        for isThere in sights {
            while (access(temporary, F_OK) == 0) != isThere, ContinuousClock.now < limit {}
        }
        let moment = ContinuousClock.now + delay
        while ContinuousClock.now < moment {}
    }

    private mutating func kill(_ victims: [Victim]) throws {
        for victim in victims { victim.child.send(SIGKILL) }
        for victim in victims {
            if victim.child.kill() {
                tally.kills += 1
            } else {
                violation("writer \(victim.index) ended before it was killed")
            }
            try victim.takeAcknowledgements()
        }
    }

    // MARK: - What is looked at

    /// Checks the file with Foundation alone. It must have the last acknowledged write of each dead writer, or the next
    /// one, and nothing older than the last acknowledged write of each living writer.
    private mutating func look(at victims: [Victim], dead: Set<Int>) throws {
        let numbers = try numbers(in: Data(contentsOf: file), of: file)
        for victim in victims {
            let (found, sure) = (numbers[victim.index], victim.acknowledged)
            if found < max(sure, standing[victim.index]) {
                violation("writer \(victim.index) acknowledged \(sure), and \(found) is there")
            } else if dead.contains(victim.index), found > sure + 1 {
                violation("writer \(victim.index) acknowledged \(sure) only, and \(found) is there")
            }
            if dead.count == victims.count {
                if found == sure + 1 { tally.unacknowledged += 1 }
                standing[victim.index] = found
            }
        }
        guard dead.count == victims.count else { return }
        // The copy may be older by the one commit in which each writer may have died.
        guard let copied = try copiedNumbers() else { return tally.torn += 1 }
        for (writer, (number, copy)) in zip(numbers, copied).enumerated() where copy > number || copy < number - 1 {
            violation("writer \(writer) stands at \(number), and at \(copy) in the last good copy")
        }
    }

    /// The numbers in the copy; nil if its writer was killed in the middle of it.
    private func copiedNumbers() throws -> [Int]? {
        let copy = try Data(contentsOf: beside("lastgood"))
        guard let bytes = try? CheckedCopy.bytes(of: copy) else { return nil }
        return try numbers(in: bytes, of: beside("lastgood"))
    }

    private func numbers(in bytes: Data, of file: URL) throws -> [Int] {
        let domain: [String: Any]
        do {
            domain = try propertyList(from: bytes)
        } catch {
            throw TortureWriter.Damage(reason: "\(file.lastPathComponent): \(error)")
        }
        let own = target == .flatJSONFile ? TortureWriter.keys : ["TorturePrefs"]
        guard Set(domain.keys).isSubset(of: own + ["Other"]), domain["Other"] as? [String: String] == Self.foreign
        else { throw TortureWriter.Damage(reason: "\(file.lastPathComponent): its entries are not what they were") }
        let root = target == .flatJSONFile ? domain : domain["TorturePrefs"] as? [String: Any] ?? [:]
        guard root[TortureWriter.covered.key] == nil else {
            throw TortureWriter.Damage(reason: "\(file.lastPathComponent): it has the entry of a layer")
        }
        return try (0..<writers).map { try TortureWriter($0).number(in: root) }
    }

    /// Opens and reads the file in a new process, which finds the state of the file. Its first write tidies up.
    private mutating func reopen() throws {
        let base = PrefsStore.propertyList(
            url: file, format: target.isJSON ? .json : .binary, layout: target == .flatJSONFile ? .flat : .roots)
        let store: PrefsStore = target == .layeredJSONFile ? PrefsStore.layered(base, above: [.file(layer)]) : base
        let root = try store.read(root: "TorturePrefs") ?? [:]
        try store.update(root: "TorturePrefs") { _ in }
        let numbers = try (0..<writers).map { try TortureWriter($0).number(in: root) }
        if target == .layeredJSONFile, root[TortureWriter.covered.key] as? String != TortureWriter.covered.value {
            violation("the library reads \(root.keys.sorted()) without the entry of the layer")
        }
        if numbers != standing { violation("the library reads \(numbers), not \(standing)") }
        let folder = file.deletingLastPathComponent()
        let names = Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
        let expected = Set([file, beside("lock"), beside("lastgood")].map(\.lastPathComponent))
        if names != expected { violation("in the folder: \(names.sorted())") }
    }

    private func beside(_ suffix: String) -> URL {
        file.deletingLastPathComponent().appending(path: ".\(file.lastPathComponent).\(suffix)")
    }

    private mutating func violation(_ sentence: String) {
        tally.violations.append("\(target.rawValue), round \(rounds): \(sentence)")
    }
}
