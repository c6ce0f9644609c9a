/// A change that the user requests.
enum EditorChange: Equatable {
    /// Stores the value that a text stands for.
    case set(ValuePath, String, as: PropertyListType?)
    /// Removes the stored value. In a class, the default then applies. In a domain, all entries inside the value are
    /// removed, too.
    case remove(ValuePath)
    /// Adds an entry to a container. Without a container, adds one at the top. Without a name, adds an element to an
    /// array.
    case add(name: String?, to: ValuePath?, PropertyListType)
    case retype(ValuePath, to: PropertyListType)
    /// Reverts the last change.
    case undo
}
