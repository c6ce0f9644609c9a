/// Tells committed states apart: of two of one revision the content is the same, whoever asks for it.
struct Revision: Equatable {
    private static let lock = Lock()
    nonisolated(unsafe) private static var last: UInt64 = 0

    private let number: UInt64

    init() {
        number = Self.lock.withLock {
            Self.last += 1
            return Self.last
        }
    }
}
