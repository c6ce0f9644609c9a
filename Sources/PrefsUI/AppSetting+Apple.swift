#if canImport(SwiftUI)
    public import PrefsKeys
    public import SwiftUI

    extension AppSetting: DynamicProperty {}

    extension AppSetting where Value: Sendable {
        /// A binding to the setting, for a control that edits it: `Toggle("Beta", isOn: $isBeta.binding)`.
        ///
        /// Keeps the container of the setting alive. Cost, errors and threads are as for the setting.
        public var binding: Binding<Value> {
            Binding(get: { wrappedValue }, set: { wrappedValue = $0 })
        }
    }
#endif
