#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Identifies a store uniquely.
///
/// Created at random when a file gets its first schema, stored in its catalog, and never changed: a copy of the file is the
/// same store, because its objects are the same. References and the object literals of queries contain it, so that a key of one
/// store is never mistaken for the same key of another.
public struct StoreIdentity: Sendable, Hashable {
  private let value: UUID

  /// A new, unique identity.
  public init() { value = UUID() }

  /// Parses the form of `description`; nil for any other text.
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
