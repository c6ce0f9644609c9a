import Foundation

/// The minimum of a current read of a cache: one `fstat` of the file, a lock, a lookup and a cast.
final class LockedDictionary: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let values: [String: Any]
    private let descriptor: Int32

    /// - Parameter file: the file whose status is read. It must exist.
    init(file: URL) throws {
        pthread_mutex_init(mutex, nil)
        // The values as property lists have them: numbers are NSNumber.
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
