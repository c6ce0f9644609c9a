/// An open file. Closed when it is released.
package final class OpenFile: Sendable {
    package let descriptor: SystemCalls.Descriptor
    private let system: SystemCalls
    private let isReplaceable: Bool

    /// Takes over the descriptor.
    ///
    /// - Parameter isReplaceable: whether another file may take its name while it is open, so that closing it is slow.
    package init(_ descriptor: SystemCalls.Descriptor, _ system: SystemCalls, isReplaceable: Bool = false) {
        self.descriptor = descriptor
        self.system = system
        self.isReplaceable = isReplaceable
    }

    deinit {
        if isReplaceable { system.closeReplaced(descriptor) } else { system.close(descriptor) }
    }
}
