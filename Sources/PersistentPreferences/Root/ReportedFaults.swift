import PrefsFileEngine

/// The faults that reads of an instance have met, so that each is reported once. A fault that ends and returns is reported again.
///
/// A fault of a value or of a root belongs to a state, whose revision shows whether it is the same fault. Without
/// revisions, and for a store that cannot be read, a fault lasts until a read succeeds.
struct ReportedFaults {
    private typealias Report = (error: PrefsError, revision: Revision?)

    /// By the key of the value; nil for a fault of the whole root.
    private var values: [String?: Report] = [:]
    private var store: PrefsError?
    /// By fault, the key that was read then; nil for the whole root.
    private var layers: [LayerFault: String?] = [:]

    /// Whether a read without a fault may end one.
    private(set) var mayEnd = false

    /// The error, reduced to what was not reported before; nil if all of it was.
    ///
    /// - Parameters:
    ///   - name: the key that was read; nil for the whole root.
    ///   - revision: the revision of the state that was read; nil if it has none.
    mutating func news(in error: PrefsError, of name: String?, at revision: Revision?) -> PrefsError? {
        switch error {
        case .typeMismatch, .constraintViolated:
            return isNews(error, forKey: name, at: revision) ? error : nil
        case .rootIsNotDictionary, .migrationFailed:
            return isNews(error, forKey: nil, at: revision) ? error : nil
        case .unreadable, .damaged, .notOurs, .unknownError, .userDefaultsUnavailable:
            mayEnd = true
            defer { store = error }
            return store == error ? nil : error
        case .invalidLayer(let faults):
            let news = faults.filter { layers.index(forKey: $0) == nil }
            mayEnd = true
            for fault in news { layers[fault] = .some(name) }
            return news.isEmpty ? nil : .invalidLayer(news)
        default:
            // What the caller asked for is wrong, or a write has left a warning.
            return error
        }
    }

    private mutating func isNews(_ error: PrefsError, forKey key: String?, at revision: Revision?) -> Bool {
        if revision == nil { mayEnd = true }
        let last = values[key]
        values[key] = (error, revision)
        guard let last, last.error == error else { return true }
        guard let revision, let former = last.revision else { return false }
        if revision.number > former.number { return true }
        // A thread has come late with an older state.
        values[key] = last
        return false
    }

    /// Forgets the faults of the store, of the root, and of the layers over this key: a read has just met none of them. The
    /// fault of the value itself is forgotten by `endValue`.
    mutating func end(readOf name: String?) {
        store = nil
        layers = layers.filter { $0.value != name }
        endValue(nil)
    }

    /// Notes that a value fits; nil for the whole root.
    mutating func endValue(_ key: String?) {
        if values[key]?.revision == nil { values[key] = nil }
        mayEnd = store != nil || !layers.isEmpty || values.values.contains { $0.revision == nil }
    }
}
