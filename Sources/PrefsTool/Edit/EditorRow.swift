/// A line of the form: an item at its depth.
struct EditorRow: Equatable {
    let item: EditorItem
    let depth: Int
    /// True if the rows of the entries follow.
    let isOpen: Bool

    var path: ValuePath { item.path }

    /// The rows of items and of those inside open containers.
    static func rows(of items: [EditorItem], open: Set<ValuePath>, depth: Int = 0) -> [EditorRow] {
        items.flatMap { item in
            let isOpen = item.isContainer && open.contains(item.path)
            let row = EditorRow(item: item, depth: depth, isOpen: isOpen)
            return [row] + (isOpen ? rows(of: item.children, open: open, depth: depth + 1) : [])
        }
    }
}
