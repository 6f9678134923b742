#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tells one store from every other, in any process and at any time.
///
/// Made at random when a file gets its first schema, kept in its catalog, and never changed: a copy of the file is the same store,
/// for its objects are the same. References and the object literals of queries carry it, so that a key of one store is never
/// taken for the same key of another.
public struct StoreIdentity: Sendable, Hashable {
  private let value: UUID

  /// One that no other store has.
  public init() { value = UUID() }

  /// From the form that `description` gives; nil for any other text.
  public init?(_ text: String) {
    guard let value = UUID(uuidString: text) else { return nil }
    self.value = value
  }
}

extension StoreIdentity: CustomStringConvertible {
  public var description: String { value.uuidString.lowercased() }
}

extension StoreIdentity: Codable {
  public init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(UUID.self) }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value)
  }
}
