public import Observation

extension PersistentPrefs: Observable {}

/// What the floors below ask of an instance.
extension PersistentPrefs: ObservedInstance {
    var observers: InstanceObservers { state }

    var isFileBeingSaved: Bool { (try? Root(key, of: state))?.roots.isBeingSaved ?? false }
}

/// What the floors below ask of a class.
extension PersistentPrefs: DeclaringClass {
    package static var declarationBase: AnyClass { PersistentPrefs.self }
}
