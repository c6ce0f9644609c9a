extension ValuePath {
    /// `a.b[2]`
    var text: String {
        steps.reduce(root) { text, step in
            switch step {
            case .key(let key): "\(text).\(key)"
            case .index(let index): "\(text)[\(index)]"
            }
        }
    }

    /// `a > b[2]`
    var trail: String {
        steps.reduce(root) { text, step in
            switch step {
            case .key(let key): "\(text) > \(key)"
            case .index(let index): "\(text)[\(index)]"
            }
        }
    }

    /// The container that the place is in; nil for a value at the top.
    var parent: ValuePath? { steps.isEmpty ? nil : ValuePath(root, steps.dropLast()) }

    /// The place up to the first array. An element has no place of its own, because its index changes with those before it.
    var outsideArrays: ValuePath {
        ValuePath(
            root,
            Array(
                steps.prefix {
                    if case .key = $0 { true } else { false }
                }))
    }

    /// The steps from a container of the place.
    func inside(_ container: ValuePath) -> ValuePath { ValuePath(text, Array(steps.dropFirst(container.steps.count))) }

    func appending(_ step: Step) -> ValuePath { ValuePath(root, steps + [step]) }

    /// True if one of both places contains the other, or if they are the same.
    func overlaps(_ other: ValuePath) -> Bool {
        root == other.root && zip(steps, other.steps).allSatisfy { $0 == $1 }
    }
}
