public import Foundation

/// A word per thread; nil at first.
@usableFromInline
package struct ThreadLocal: Sendable {
    @usableFromInline let key: pthread_key_t

    package init() {
        var key = pthread_key_t()
        let code = pthread_key_create(&key, nil)
        precondition(code == 0, "no thread-local storage left")
        self.key = key
    }

    @inlinable package var value: UnsafeRawPointer? {
        get { pthread_getspecific(key).map { UnsafeRawPointer($0) } }
        nonmutating set { pthread_setspecific(key, newValue) }
    }
}
