import Foundation
import PersistentPreferences
import PrefsFileEngine
import PrefsPropertyLists

/// The initial values of the type and of a bundle.
extension SettingsStorage {
    /// The initial values that the type implements; nil if it does not implement them.
    func stated() throws -> Settings? {
        do {
            return try values.type.initialSettings
        } catch is UnstatedInitialSettings {
            return nil
        }
    }

    var isStated: Bool { (try? stated()) != nil }

    /// The initial values without a bundle: those that the type implements, or those with which a load created the
    /// file. Missing fields take the values of `settings`. So do all fields if the values cannot be used.
    func initialRoot(_ settings: Settings) -> StoredValue? {
        if let stated = try? stated() { return values.own(stated) }
        guard let kept = try? files.initial.read().root,
            let initial = try? values.decode(kept, fallback: { values.own(settings) })
        else { return values.own(settings) }
        return values.own(initial)
    }

    /// Returns true if this call has created the file of initial values.
    func keepInitial(_ root: StoredValue) throws -> Bool {
        var isThere = false
        do {
            try files.initial.write(root) { now in
                isThere = now != nil
                if isThere { throw Found() }
            }
            return true
        } catch {
            if isThere { return false }
            throw SettingsFileError(error)
        }
    }

    /// Undoes `keepInitial` after the file could not be created.
    func forgetInitial() {
        try? files.initial.write(nil)
    }

    func bundledValues(
        _ settings: Settings, _ bundle: Bundle
    ) throws -> (settings: Settings, root: StoredValue, format: FileFormat)? {
        guard let resource = resource(in: bundle) else { return nil }
        let (root, format) = try SettingsFileError.converting {
            try PropertyListDocument.contents(ofResource: resource, for: values.type.settingsFormat)
        }
        let bundled = try values.decode(root, from: resource.path(percentEncoded: false)) { values.own(settings) }
        return (bundled, root, format)
    }

    func resource(in bundle: Bundle) -> URL? {
        let name = url.deletingPathExtension().lastPathComponent
        let resource = bundle.url(forResource: name, withExtension: url.pathExtension)
        // The settings may be stored beside the program. Then their own file is not the resource.
        let isOwn = resource?.resolvingSymlinksInPath().path == url.resolvingSymlinksInPath().path
        return isOwn ? nil : resource
    }
}
