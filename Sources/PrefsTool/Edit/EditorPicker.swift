/// A list of texts, of which the user chooses one.
struct EditorPicker: Equatable {
    enum Purpose: Equatable {
        /// The new value of an item.
        case value(EditorItem)
        /// The new type of an item.
        case type(EditorItem)
        /// The type of a new entry.
        case newEntry(name: String?, container: ValuePath?)
    }

    let title: String
    let options: [String]
    private(set) var selection: Int
    let purpose: Purpose

    init(_ title: String, _ options: [String], selected: String?, for purpose: Purpose) {
        self.title = title
        self.options = options
        self.purpose = purpose
        selection = selected.flatMap(options.firstIndex) ?? 0
    }

    static func types(_ title: String, selected: PropertyListType?, for purpose: Purpose) -> EditorPicker {
        let selected = selected ?? .string
        return EditorPicker(title, PropertyListType.allCases.map(\.rawValue), selected: selected.rawValue, for: purpose)
    }

    var chosen: String { options[selection] }

    /// A letter selects the next option that begins with it.
    mutating func press(_ key: Key, page: Int) {
        switch key {
        case .up, .backTab: selection = (selection + options.count - 1) % options.count
        case .down, .tab: selection = (selection + 1) % options.count
        case .pageUp: selection = max(0, selection - page)
        case .pageDown: selection = min(options.count - 1, selection + page)
        case .home: selection = 0
        case .end: selection = options.count - 1
        case .text(let letter):
            let order = options.indices.map { (selection + 1 + $0) % options.count }
            selection = order.first { options[$0].lowercased().hasPrefix(letter.lowercased()) } ?? selection
        default: break
        }
    }
}
