import PersistentPreferences
import PrefsFileEngine
import PrefsJSON
import PrefsPropertyLists

/// The file of a layer: the first one of several that exists. Never written.
final class LayerFile: Sendable {
    let locations: [FileLocation]
    /// The paths that lead to the file of the base, and are not read.
    let pathsToBase: [String]

    /// The state of the file at one moment. A class, because each read of a root copies it.
    final class Reading: Sendable {
        /// The path of the file; the first path if no file exists.
        let path: String
        let content: Transaction.Content?
        /// The format of the file, or of a new one; nil if it cannot be read.
        let format: FileFormat?
        /// Why the file cannot be read. A damaged file still has the content that the process last read from it.
        let fault: String?
        /// The revisions of the files that were examined; nil for a file that cannot be read.
        let revisions: [Revision?]
        /// The roots that classes have migrated, because they say which version they have.
        private let migrated = Locked<[ClassRoot: VersionedValues]>([:])

        init(path: String, _ state: DomainState? = nil, fault: String? = nil, revisions: [Revision?]) {
            self.path = path
            (content, format) = (state?.content, state?.format)
            self.fault = fault
            self.revisions = revisions
        }

        /// A root in the current shape of a class; nil if it does not say which version it has, and is read as it is.
        /// Runs the code of migrations, once for each class.
        func versioned(
            _ values: [String: StoredValue], root: String, for declarations: ClassDeclarations
        ) -> VersionedValues? {
            guard declarations.schema.isMarked(values) else { return nil }
            let name = ClassRoot(declarations: ClassIdentity(object: declarations), root: root)
            if let known = migrated.withLock({ $0[name] }) { return known }
            let new = VersionedValues(values, root: root, declarations.schema)
            migrated.withLock { migrated in
                // Bounded, because a program may have any number of roots.
                if migrated.count >= 4_096 { migrated = [:] }
                migrated[name] = new
            }
            return new
        }

        private struct ClassRoot: Hashable {
            let declarations: ClassIdentity
            let root: String
        }
    }

    /// - Parameter paths: absolute.
    init(_ paths: [String]) {
        locations = paths.map(Self.location)
        pathsToBase = []
    }

    init(_ locations: [FileLocation], pathsToBase: [String] = []) {
        self.locations = locations
        self.pathsToBase = pathsToBase
    }

    /// Returns this file without the paths that lead to the file of the base. There, every entry would cover itself.
    ///
    /// - Parameter target: the path of that file, without links.
    func withoutBase(_ target: String) -> LayerFile {
        let own = locations.filter { (try? PathResolution($0.path, system: .real))?.target == target }
        if own.isEmpty { return self }
        let others = locations.filter { location in !own.contains { $0 === location } }
        return LayerFile(others, pathsToBase: pathsToBase + own.map(\.path))
    }

    /// The location of a property list or of JSON: the content says which. The name only says in whose terms a mistake is told.
    private static func location(_ path: String) -> FileLocation {
        FileLocation(path: path) { $0.add(path.utf8.suffix(5).elementsEqual(".json".utf8) ? .json : .jsonBesideLists) }
    }

    func read() -> Reading {
        var revisions: [Revision?] = []
        for location in locations {
            do {
                let found = try location.read(.none)
                revisions.append(found.revision)
                let warning = found.warning.map { PrefsError($0) }
                guard found.content != nil || warning != nil else { continue }
                // What is known of the path is of an earlier file.
                if warning != nil, Self.isNullDevice(location) {
                    return Reading(path: location.path, revisions: revisions)
                }
                let fault = warning.flatMap { $0.isWarning ? nil : Self.reason(of: $0) }
                return Reading(path: location.path, found, fault: fault, revisions: revisions)
            } catch {
                revisions.append(nil)
                return Reading(path: location.path, fault: Self.fault(error, of: location), revisions: revisions)
            }
        }
        return Reading(path: locations.first?.path ?? "", revisions: revisions)
    }

    /// Whether a read would find the state of an earlier reading.
    func isCurrent(_ reading: Reading) -> Bool {
        for (location, revision) in zip(locations, reading.revisions) {
            do {
                let found = try location.read(.none)
                if revision == nil || found.revision != revision { return false }
            } catch {
                // The reason may have changed.
                if revision != nil || Self.fault(error, of: location) != reading.fault { return false }
            }
        }
        return true
    }

    func forget() {
        locations.forEach { $0.forget() }
    }

    /// Why a location cannot be read; nil if the null device is there.
    private static func fault(_ error: any Error, of location: FileLocation) -> String? {
        isNullDevice(location) ? nil : reason(of: PrefsError(error))
    }

    /// Whether the null device is at a location: with it, people say that there is no file. Also a link to it, which hides the
    /// locations that follow.
    private static func isNullDevice(_ location: FileLocation) -> Bool {
        (try? PathResolution(location.path, system: .real))?.target == "/dev/null"
    }

    /// The reason of an error without the path, because the fault names it.
    private static func reason(of error: PrefsError) -> String {
        switch error {
        case .unreadable(let failure): failure.reason
        case .damaged(let file), .notOurs(let file):
            (file.line.map { line in "line \(line)" + (file.column.map { ", column \($0)" } ?? "") + ": " } ?? "")
                + file.reason
        default: "\(error)"
        }
    }
}

/// A root of a layer's file that says which version it has, in the current shape of a class. As in the base, a root of a
/// newer version stays as it is.
struct VersionedValues: Sendable {
    /// Empty if they could not be migrated.
    let values: [String: StoredValue]
    /// Why they could not be migrated.
    let fault: String?
    /// That a newer version of the class has written them.
    let newerVersion: String?

    init(_ stored: [String: StoredValue], root: String, _ schema: RootSchema) {
        newerVersion = schema.newerVersion(of: stored)
        do {
            (values, fault) = (try schema.current(stored, root: root) ?? [:], nil)
        } catch {
            (values, fault) = ([:], error.reasonInLayer)
        }
    }
}
