import Foundation

/// The least that a current read of a cache can be: one `fstat` of the file, a lock, a lookup and a cast.
final class LockedDictionary: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let values: [String: Any]
    private let descriptor: Int32

    /// - Parameter file: what is asked for its status; there must be one.
    init(file: URL) throws {
        pthread_mutex_init(mutex, nil)
        // In the form that property lists have: numbers as NSNumber.
        values = FivePrefs.values.mapValues { ($0 as? Int).map(NSNumber.init(value:)) ?? $0 }
        try Data("a file".utf8).write(to: file)
        descriptor = try SystemError.check(open(file.path, O_RDONLY | O_CLOEXEC), "open")
    }

    deinit {
        close(descriptor)
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func validatedNumber(_ name: String) -> Int {
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > 0 else { return 0 }
        return number(name)
    }

    func number(_ name: String) -> Int {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return values[name] as? Int ?? 0
    }
}
