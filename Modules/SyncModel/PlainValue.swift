public import StoreValues

/// A value that is neither a link nor a collection, so it means the same in every file.
public struct PlainValue: Hashable, Sendable {
  /// Never a link, a list or a map; a NaN is the canonical one of its type.
  public let value: Value

  /// Returns nil for a link, a list or a map. Replaces a NaN by the canonical one of its type.
  public init?(_ value: Value) {
    switch value {
    case .link, .object, .list, .map: return nil
    case .float(let x) where x.isNaN: self.value = .float(.nan)
    case .double(let x) where x.isNaN: self.value = .double(.nan)
    case .date(let x) where x.isNaN: self.value = .date(.nan)
    default: self.value = value
    }
  }

  /// An integer.
  public init(_ x: Int64) { value = .int(x) }
  /// A text.
  public init(_ x: String) { value = .string(x) }

  /// No value.
  public static let null = PlainValue()
  private init() { value = .null }
}

extension CellValue: CustomStringConvertible {
  /// For people: logs and tests.
  public var description: String {
    switch self {
    case .plain(let plain): plain.value.description
    case .link(let target): "→\(target.object)\(target.epoch == .zero ? "" : " of \(target.epoch)")"
    case .list(let elements): "[" + elements.map(\.description).joined(separator: ", ") + "]"
    case .map(let table): "{" + table.map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "}"
    }
  }
}
