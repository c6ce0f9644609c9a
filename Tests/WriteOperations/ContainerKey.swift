package import Foundation
package import PersistentPreferences
import PrefsKeys

/// The key of the operations on an `AppSettingsValues` or a `UserDefaults`.
package struct ContainerKey: PrefKey {
    package static let stringKey = "a"
    package static let defaultValue = 0

    /// The last error in a task.
    @TaskLocal private static var report = Locked<PrefsError?>(nil)

    package init() {}

    package static func didFail(_ error: PrefsError) { report.withLock { $0 = error } }

    /// Runs an operation.
    ///
    /// - Returns: the error that it returned or reported.
    package static func failure(of operation: () -> PrefsError?) -> PrefsError? {
        $report.withValue(Locked(nil)) { operation() ?? report.withLock { $0 } }
    }

    /// Writes a number to a `UserDefaults`.
    ///
    /// - Returns: the error of the operation, or nil if it succeeded.
    package static func perform(_ operation: WriteOperation, _ number: Int, in defaults: UserDefaults) -> PrefsError? {
        failure {
            switch operation {
            case .keyValue: value = number
            case .keySet: return set(number, defaults)
            case .keyReset: return reset(defaults)
            case .keyModify: return modify(in: defaults) { $0 = number }
            case .keySubscript: ContainerKey()[defaults] = number
            case .defaultsSubscript: defaults[ContainerKey.self] = number
            default: preconditionFailure("\(operation) does not write to UserDefaults")
            }
            return nil
        }
    }
}

extension AppSettingsValues {
    var writtenNumber: Int {
        get { self[ContainerKey.self] }
        set { self[ContainerKey.self] = newValue }
        _modify { yield &self[ContainerKey.self] }
    }
}
