@testable import PrefsSupport
import PersistentPreferences

/// Something that an operation gave, or left behind. The model and the library have to give the same ones.
enum ModelObservation: Equatable {
    case value(ModelValue?)
    case values([ModelText: ModelValue])
    case count(Int)
    /// What `update` returned.
    case returned(ModelError?)
    case threw
    case lastError(Int, ModelError?)
    /// All that `prefsDidFail` was told during a step.
    case told(Int, [ModelError])
    /// What a file holds, by Foundation; nil where there is none, or no property list.
    case file(ModelPlace, [ModelText: ModelValue]?)
    /// The bytes of quarantined files, and nothing else, are beside the file.
    case asides(ModelPlace, [[UInt8]])
    case trouble(String)
}

/// An error with the arguments that can be told in advance.
enum ModelError: Error, Equatable {
    case incorrectKeys([String])
    case incompatible([String])
    case nothingStored(String)
    case invalidName(String)
    case notDictionary(String)
    /// Of a read; of a write that quarantined the bytes.
    case damaged(isQuarantined: Bool)
    case notOurs
    /// The file is in XML, which has no form for a text that every reader would read alike.
    case notInXML
    case otherStore
    case stopped
    case unexpected(String)

    init(_ error: PrefsError) {
        self =
            switch error {
            case .incorrectKeys(let keys): .incorrectKeys(keys)
            case .valuesNotPlistCompatible(let keys): .incompatible(keys)
            case .noStoredPrefsForKey(let key): .nothingStored(key)
            case .invalidName(let name, _): .invalidName(name)
            case .rootIsNotDictionary(let key): .notDictionary(key)
            case .damaged: .damaged(isQuarantined: false)
            case .quarantined: .damaged(isQuarantined: true)
            case .notOurs: .notOurs
            case .notStored(let failure) where failure.reason.hasSuffix("cannot be stored in XML"): .notInXML
            case .updateOfAnotherStore: .otherStore
            case .unknownError(let error) where error is ModelStop: .stopped
            default: .unexpected("\(error)")
            }
    }

    var kind: String {
        switch self {
        case .damaged(let isQuarantined): isQuarantined ? "damaged, quarantined" : "damaged"
        default: "\(self)".prefix { $0 != "(" }.description
        }
    }
}

/// What a body throws.
struct ModelStop: Error {}
