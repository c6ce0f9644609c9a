public import Foundation
import PrefsPropertyLists

/// What went wrong with a ``SettingsFile``. No case and no text holds a stored value. Safe to pass between threads.
public enum SettingsFileError: Error, Sendable, LocalizedError, CustomStringConvertible {
    /// A file that is needed is missing.
    case missing(path: String)
    /// A field is missing, of another type, or not known. `failure` names it.
    case field(path: String, failure: PropertyListFailure)
    /// The file could not be read, is malformed, or could not be written (no permission, disk full …).
    case storage(PrefsError)

    /// One line that says what failed and where.
    public var description: String {
        switch self {
        case .missing(let path): "\(path): there is no such file"
        case .field(let path, let failure): "\(path): \(failure.path.isEmpty ? failure.reason : "\(failure)")"
        case .storage(let error): "\(error)"
        }
    }

    /// The same text as `description`.
    public var errorDescription: String? { description }
}

extension SettingsFileError {
    /// An error of any kind as one of these.
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
