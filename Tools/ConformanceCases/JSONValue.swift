/// A JSON document as it was written: integers stay integers and members keep their order.
public indirect enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case int(Int64)
  case double(Double)
  case string(String)
  case array([JSONValue])
  case object([Member])

  public struct Member: Sendable, Hashable {
    public var name: String
    public var value: JSONValue
  }
}

extension JSONValue {
  public subscript(name: String) -> JSONValue? {
    if case .object(let members) = self { members.first { $0.name == name }?.value } else { nil }
  }

  public var string: String? { if case .string(let text) = self { text } else { nil } }
  public var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
  public var members: [Member]? { if case .object(let members) = self { members } else { nil } }
  public var bool: Bool? { if case .bool(let bool) = self { bool } else { nil } }
  public var int: Int? { if case .int(let number) = self { Int(exactly: number) } else { nil } }
  public var double: Double? {
    switch self {
    case .int(let number): Double(number)
    case .double(let number): number
    default: nil
    }
  }
  /// An array of integers.
  public var ints: [Int]? {
    guard let elements = array else { return nil }
    let numbers = elements.compactMap(\.int)
    return numbers.count == elements.count ? numbers : nil
  }
}

extension JSONValue: CustomStringConvertible {
  /// JSON on one line, for reports.
  public var description: String {
    switch self {
    case .null: "null"
    case .bool(let bool): "\(bool)"
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .string(let text): "\"\(text)\""
    case .array(let elements): "[" + elements.map(\.description).joined(separator: ", ") + "]"
    case .object(let members): "{" + members.map { "\"\($0.name)\": \($0.value)" }.joined(separator: ", ") + "}"
    }
  }
}
