import Foundation

/// A word that each thread has for itself; nil at first.
struct ThreadLocal {
    private let key: pthread_key_t

    init() {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "no thread-local storage left")
        self.key = key
    }

    var value: UnsafeRawPointer? {
        get { pthread_getspecific(key).map { UnsafeRawPointer($0) } }
        nonmutating set { pthread_setspecific(key, newValue) }
    }
}
