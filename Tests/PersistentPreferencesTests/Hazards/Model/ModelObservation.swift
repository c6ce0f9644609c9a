@testable import PrefsSupport
import PersistentPreferences

/// A result or an effect of an operation. The observations of the model and the library must be equal.
enum ModelObservation: Equatable {
    case value(ModelValue?)
    case values([ModelText: ModelValue])
    case count(Int)
    /// What `update` returned.
    case returned(ModelError?)
    case threw
    case lastError(Int, ModelError?)
    /// All errors that `prefsDidFail` received during a step.
    case told(Int, [ModelError])
    /// The contents of a file, read by Foundation; nil if it is missing or not a property list.
    case file(ModelPlace, [ModelText: ModelValue]?)
    /// The bytes of the quarantined files. Nothing else is beside the file.
    case asides(ModelPlace, [[UInt8]])
    case trouble(String)
}

/// An error with the arguments that can be predicted.
enum ModelError: Error, Equatable {
    case incorrectKeys([String])
    case incompatible([String])
    case nothingStored(String)
    case invalidName(String)
    case notDictionary(String)
    /// The error of a read, or the warning of a write that quarantined the bytes.
    case damaged(isQuarantined: Bool)
    case notOurs
    /// The file is in XML, and a text has no form that every reader reads as an equal text.
    case notInXML
    case otherStore
    case stopped
    case unexpected(String)

    init(_ error: PrefsError) {
        self =
            switch error {
            case .incorrectKeys(let keys): .incorrectKeys(Array(keys))
            case .valuesNotPlistCompatible(let keys): .incompatible(Array(keys))
            case .noStoredPrefsForKey(let key): .nothingStored(key)
            case .invalidName(let name, _): .invalidName(name)
            case .rootIsNotDictionary(let key): .notDictionary(key)
            case .damaged: .damaged(isQuarantined: false)
            case .quarantined: .damaged(isQuarantined: true)
            case .notOurs: .notOurs
            case .notStored(let failure) where failure.reason.hasSuffix("cannot be stored in XML"): .notInXML
            case .updateOfAnotherStore: .otherStore
            case .unknownError(let error) where error is Stop: .stopped
            default: .unexpected("\(error)")
            }
    }

    /// Whether it is a fault of the stored state, which reads tell once.
    var isFault: Bool {
        switch self {
        case .notOurs, .damaged(isQuarantined: false), .notDictionary: true
        default: false
        }
    }

    var kind: String {
        switch self {
        case .damaged(let isQuarantined): isQuarantined ? "damaged, quarantined" : "damaged"
        default: "\(self)".prefix { $0 != "(" }.description
        }
    }
}
