public import Foundation
public import PersistentPreferences
import PrefsPropertyLists

/// An error of a ``SettingsFile``.
///
/// ```swift
/// import PrefsSettingsFiles
///
/// do {
///     try settings.tryLoad()
/// } catch SettingsFileError.field(_, let failure) {
///     print(failure.path, failure.reason)
/// }
/// ```
///
/// No case and no description contains a stored value. May be passed between threads.
public enum SettingsFileError: Error, Sendable, LocalizedError, CustomStringConvertible {
    /// A file is missing.
    case missing(path: String)
    /// A field is missing, is of another type, or is unknown. `failure` names it.
    case field(path: String, failure: PropertyListFailure)
    /// The file could not be read, is malformed, or could not be written (no permission, disk full …).
    case storage(PrefsError)

    /// One line that says what failed and where.
    public var description: String {
        switch self {
        case .missing(let path): "\(path): the file does not exist"
        case .field(let path, let failure): "\(path): \(failure.path.isEmpty ? failure.reason : "\(failure)")"
        case .storage(let error): "\(error)"
        }
    }

    /// The text of `description`.
    public var errorDescription: String? { description }
}

extension SettingsFileError {
    /// Converts an error of any type.
    init(_ error: any Error) {
        self = error as? SettingsFileError ?? .storage(PrefsError(error))
    }

    static func converting<R>(_ body: () throws -> R) throws -> R {
        do {
            return try body()
        } catch {
            throw SettingsFileError(error)
        }
    }
}
