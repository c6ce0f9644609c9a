/// A struct that holds a class and encodes itself as the class does, because `@Pref` does not accept a class.
package struct Held<Content: Codable>: Codable {
    package let content: Content

    package init(_ content: Content) { self.content = content }

    package init(from decoder: any Decoder) throws { content = try Content(from: decoder) }

    package func encode(to encoder: any Encoder) throws { try content.encode(to: encoder) }
}

extension Held: Sendable where Content: Sendable {}
extension Held: Equatable where Content: Equatable {}
extension Held: Hashable where Content: Hashable {}
