/// An open file. Closed when it is released.
package final class OpenFile: Sendable {
    package let descriptor: SystemCalls.Descriptor
    private let system: SystemCalls

    /// Takes over the descriptor.
    package init(_ descriptor: SystemCalls.Descriptor, _ system: SystemCalls) {
        self.descriptor = descriptor
        self.system = system
    }

    deinit {
        system.close(descriptor)
    }
}
