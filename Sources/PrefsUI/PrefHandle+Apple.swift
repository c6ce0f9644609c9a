#if canImport(SwiftUI)
    public import PersistentPreferences
    public import SwiftUI

    extension PrefHandle where Value: Sendable {
        /// A binding to the property, for a control that edits it: `TextField("Name", text: prefs.$name.binding)`.
        ///
        /// Keeps the instance alive. Cost, errors and threads are as for the property.
        public var binding: Binding<Value> {
            Binding(get: { value }, set: { set($0) })
        }
    }
#endif
