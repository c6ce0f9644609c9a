@testable import PrefsSupport
import WriteOperations

/// One operation on the prefs with that number, or an operation from outside. All random choices are made in advance,
/// so that a shortened sequence keeps its meaning.
indirect enum ModelOperation {
    /// A new instance gets the number.
    case create(Int, key: String, values: [String: ModelInput])
    case get(Int, String)
    case values(Int)
    case count(Int)
    case set(Int, String, ModelInput?)
    /// `prefs[to] = prefs[from]`; an equal write if both keys are equal.
    case copy(Int, from: String, to: String)
    case replace(Int, [String: ModelInput])
    /// A change in place, during which other operations may run.
    case change(Int, [ModelStep])
    case swap(Int, String, String, inValues: Bool)
    /// By one of `ModelOperation.updates`.
    case update(Int, WriteOperation, [ModelStep])
    case remove(Int, [String])
    case clear(Int)
    case deleteAll(Int)
    case flush(Int)
    case move(Int, key: String)
    /// All objects are dropped and created again, so that the files are loaded from disk.
    case reopen
    case foreign(ModelEdit)
}

/// A step of the body of an update or of a change in place.
enum ModelStep {
    /// An assignment to the body's own dictionary; has no effect in the form without a dictionary.
    case assign(String, ModelInput?)
    /// A nested access. Its error is caught.
    case operation(ModelOperation)
    /// The body throws.
    case stop
}

/// A change of a file by another program.
enum ModelEdit {
    enum Damage: String, CaseIterable {
        case empty, text, oldStyle, arrayOnTop, cut
    }

    enum Change {
        case assign(root: String, key: String, ModelValue)
        case removeRoot(String)
        /// Stores something other than a dictionary under a root key.
        case spoilRoot(String)
        case rewrite(isXML: Bool)
    }

    case change(ModelPlace, Change)
    case remove(ModelPlace)
    case damage(ModelPlace, Damage, inPlace: Bool)
    /// Changes the target of the symbolic link.
    case link(to: ModelPlace)
}

/// One step of a sequence. Without the comparison, the next operation is the first to meet the result of this one.
struct ModelMove {
    var operation: ModelOperation
    var comparesAll: Bool
}

extension ModelOperation {
    /// The forms of an update that block.
    static let updates: [WriteOperation] = [
        .update, .dictionaryUpdate, .returningUpdate, .returningDictionaryUpdate,
    ]

    /// The operations that the model predicts.
    static let modelled: Set<WriteOperation> =
        Set(updates).union([
            .subscripted, .subscriptedNil, .remove, .values, .valuesInPlace, .initializer, .clear, .deleteAll,
        ])

    /// The operations that the model leaves out: they need a property, bytes or a task, or write past the instances.
    static let leftOut: Set<WriteOperation> =
        Set(
            WriteOperation.of(.property, .container, .defaults, .store, .document)
                + WriteOperation.allCases.filter(\.isAsync)
        )
        .union([.importedJSON, .importedXML, .importedBinary, .importedWhole])

    /// The number of the instance; nil for an operation from outside.
    var number: Int? {
        switch self {
        case .create(let number, _, _), .get(let number, _), .values(let number), .count(let number),
            .set(let number, _, _), .copy(let number, _, _), .replace(let number, _), .change(let number, _),
            .swap(let number, _, _, _), .update(let number, _, _), .remove(let number, _), .clear(let number),
            .deleteAll(let number), .flush(let number), .move(let number, _):
            number
        case .reopen, .foreign: nil
        }
    }
}
