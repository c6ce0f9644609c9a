/// Listeners in the order in which they have come. There may be thousands: to add or remove one takes constant time.
struct ListenerList {
    private var listeners: [(any EntryListener)?] = []
    private var places: [ObjectIdentifier: Int] = [:]

    /// In order.
    var all: some Sequence<any EntryListener> { listeners.lazy.compactMap { $0 } }

    mutating func append(_ listener: any EntryListener) {
        places[ObjectIdentifier(listener)] = listeners.count
        listeners.append(listener)
    }

    /// - Returns: false where it is not among them.
    mutating func remove(_ listener: any EntryListener) -> Bool {
        guard let place = places.removeValue(forKey: ObjectIdentifier(listener)) else { return false }
        listeners[place] = nil
        if listeners.count > 16, places.count < listeners.count / 2 {
            listeners = listeners.filter { $0 != nil }
            for (place, listener) in listeners.enumerated() {
                if let listener { places[ObjectIdentifier(listener)] = place }
            }
        }
        return true
    }
}
