#if canImport(SwiftUI)
    public import SwiftUI

    extension AppSetting: DynamicProperty {
        /// A binding to the setting, for a control that edits it.
        public var projectedValue: Binding<Value> {
            Binding(get: { wrappedValue }, set: { wrappedValue = $0 })
        }
    }
#endif
