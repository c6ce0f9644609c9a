/// Subscribers in the order of their subscription. Adding or removing one takes constant time, because there may be
/// thousands.
struct SubscriberList {
    private var subscribers: [(any EntrySubscriber)?] = []
    private var places: [ObjectIdentifier: Int] = [:]

    /// The subscribers, in order.
    var all: some Sequence<any EntrySubscriber> { subscribers.lazy.compactMap { $0 } }

    mutating func append(_ subscriber: any EntrySubscriber) {
        places[ObjectIdentifier(subscriber)] = subscribers.count
        subscribers.append(subscriber)
    }

    /// - Returns: false if the subscriber is not in the list.
    mutating func remove(_ subscriber: any EntrySubscriber) -> Bool {
        guard let place = places.removeValue(forKey: ObjectIdentifier(subscriber)) else { return false }
        subscribers[place] = nil
        if subscribers.count > 16, places.count < subscribers.count / 2 {
            subscribers = subscribers.filter { $0 != nil }
            for (place, subscriber) in subscribers.enumerated() {
                if let subscriber { places[ObjectIdentifier(subscriber)] = place }
            }
        }
        return true
    }
}
