/// A path of property names from an object: `age`, `best.name`, `dogs.name`.
///
/// A path is a description; whether it exists, and what a collection on the way means, is decided when the
/// query is bound to a schema.
public struct PropertyPath: Sendable, Hashable, Codable {
  public var components: [String]

  public init(_ components: [String]) { self.components = components }
  /// Splits at dots: `PropertyPath("best.name")`.
  public init(_ text: String) { components = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
}

extension PropertyPath: CustomStringConvertible {
  public var description: String { components.joined(separator: ".") }
}
