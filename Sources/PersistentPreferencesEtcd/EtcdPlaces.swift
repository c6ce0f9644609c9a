import Foundation
import PersistentPreferences
import PrefsPropertyLists

/// The places that are in use, so that all stores of a place share one.
enum EtcdPlaces {
    private struct Key: Hashable {
        let endpoints: Set<Endpoint>
        let prefix: String
        let user: EtcdClient.User?
        let deadline: Duration
        let staleness: Duration
    }

    private struct Entry {
        weak var place: EtcdPlace?
    }

    private static let places = Locked<[Key: Entry]>([:])

    /// - Throws: `PrefsError.invalidName`.
    static func place(
        _ urls: [URL], _ prefix: String, _ options: EtcdStore.Options
    ) throws(PrefsError) -> EtcdPlace {
        var endpoints: [Endpoint] = []
        for url in urls { endpoints.append(try Endpoint(url)) }
        guard !endpoints.isEmpty else { throw .invalidName(name: prefix, reason: "has no endpoints") }
        if prefix.utf8.contains(0) {
            throw .invalidName(name: prefix, reason: "is not a valid prefix: it contains a NUL")
        }
        let user = options.user.map { EtcdClient.User(name: $0, password: options.password) }
        let deadline = max(options.deadline, .milliseconds(100))
        let staleness = max(options.staleness, .seconds(1))
        let key = Key(
            endpoints: Set(endpoints), prefix: prefix, user: user, deadline: deadline, staleness: staleness)
        return places.withLock { places in
            if let place = places[key]?.place { return place }
            places = places.filter { $0.value.place != nil }
            let client = EtcdClient(endpoints: endpoints, user: user, patience: deadline / 4)
            let place = EtcdPlace(client, prefix: prefix, deadline: deadline, staleness: staleness)
            places[key] = Entry(place: place)
            return place
        }
    }
}
