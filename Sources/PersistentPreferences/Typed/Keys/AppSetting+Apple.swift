#if canImport(SwiftUI)
    public import SwiftUI

    extension AppSetting: DynamicProperty {
        /// What `$setting` is: a binding, for a control that edits the setting.
        public typealias Projection = Binding<Value>

        var projection: Projection {
            Binding(get: { wrappedValue }, set: { wrappedValue = $0 })
        }
    }
#else
    extension AppSetting {
        /// What `$setting` is: the wrapper itself.
        public typealias Projection = Self

        var projection: Projection { self }
    }
#endif
