#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Encoded as `{"int": 5}`, `{"string": "a"}`, `{"list": [{"bool": true}, {"null": true}]}`: the kind of the value and the
/// value, bit for bit. Numbers that JSON cannot express are their bits in hexadecimal; dates are text, as by `Timestamp`.
extension Value: Codable {
  private enum Kind: String, CodingKey {
    case null, bool, int, float, double, string, data, date, uuid, objectId, decimal, link, object, list, map
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Kind.self)
    switch self {
    case .null: try container.encode(true, forKey: .null)
    case .bool(let x): try container.encode(x, forKey: .bool)
    case .int(let x): try container.encode(x, forKey: .int)
    case .float(let x):
      if x.isFinite && !(x == 0 && x.sign == .minus) { return try container.encode(x, forKey: .float) }
      try container.encode(String(x.bitPattern, radix: 16), forKey: .float)
    case .double(let x): try container.encode(real: x, forKey: .double)
    case .string(let x): try container.encode(x, forKey: .string)
    case .data(let x): try container.encode(x.base64EncodedString(), forKey: .data)
    case .date(let x): try container.encode(x, forKey: .date)
    case .uuid(let x): try container.encode(x.uuidString, forKey: .uuid)
    case .objectId(let x): try container.encode(x.description, forKey: .objectId)
    case .decimal(let x):
      try container.encode([String(x.high, radix: 16), String(x.low, radix: 16)], forKey: .decimal)
    case .link(let x): try container.encode(x.rawValue, forKey: .link)
    case .object(let x): try container.encode([Int64(x.table.rawValue), x.key.rawValue], forKey: .object)
    case .list(let x): try container.encode(x, forKey: .list)
    case .map(let x):
      // Not a dictionary, because Swift may compare two distinct keys as equal strings.
      try container.encode(x.entries.flatMap { [Value.string($0.key), $0.value] }, forKey: .map)
    }
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Kind.self)
    guard container.allKeys.count == 1, let kind = container.allKeys.first else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "A value is of exactly one kind."))
    }
    func text() throws -> String { try container.decode(String.self, forKey: kind) }
    func known<T>(_ value: T?) throws -> T {
      if let value { return value }
      throw DecodingError.dataCorruptedError(forKey: kind, in: container, debugDescription: "This is no \(kind.rawValue).")
    }
    switch kind {
    case .null: self = .null
    case .bool: self = .bool(try container.decode(Bool.self, forKey: kind))
    case .int: self = .int(try container.decode(Int64.self, forKey: kind))
    case .float:
      if let number = try? container.decode(Float.self, forKey: kind) { self = .float(number) } else {
        self = .float(Float(bitPattern: try known(UInt32(text(), radix: 16))))
      }
    case .double: self = .double(try container.decode(realForKey: kind))
    case .string: self = .string(try text())
    case .data: self = .data(try known(Data(base64Encoded: text())))
    case .date: self = .date(try container.decode(Timestamp.self, forKey: kind))
    case .uuid: self = .uuid(try known(UUID(uuidString: text())))
    case .objectId: self = .objectId(try known(ObjectId(text())))
    case .decimal:
      let words = try container.decode([String].self, forKey: kind).compactMap { UInt64($0, radix: 16) }
      self = .decimal(try known(words.count == 2 ? Decimal128(high: words[0], low: words[1]) : nil))
    case .link: self = .link(ObjectKey(try container.decode(Int64.self, forKey: kind)))
    case .object:
      let numbers = try container.decode([Int64].self, forKey: kind)
      let table = try known(numbers.count == 2 ? UInt16(exactly: numbers[0]) : nil)
      self = .object(ObjectLink(TableID(table), ObjectKey(numbers[1])))
    case .list: self = .list(try container.decode([Value].self, forKey: kind))
    case .map:
      let values = try container.decode([Value].self, forKey: kind)
      var entries: [ValueMap.Entry] = []
      for at in stride(from: 0, to: values.count, by: 2) {
        guard case .string(let key) = values[at], at + 1 < values.count else { _ = try known(Value?.none); continue }
        entries.append(ValueMap.Entry(key, values[at + 1]))
      }
      self = .map(ValueMap(entries))
    }
  }
}

extension KeyedEncodingContainer {
  fileprivate mutating func encode(real x: Double, forKey key: Key) throws {
    if x.isFinite && !(x == 0 && x.sign == .minus) { return try encode(x, forKey: key) }
    try encode(String(x.bitPattern, radix: 16), forKey: key)
  }
}

extension KeyedDecodingContainer {
  fileprivate func decode(realForKey key: Key) throws -> Double {
    if let number = try? decode(Double.self, forKey: key) { return number }
    guard let bits = UInt64(try decode(String.self, forKey: key), radix: 16) else {
      throw DecodingError.dataCorruptedError(forKey: key, in: self, debugDescription: "This is no number.")
    }
    return Double(bitPattern: bits)
  }
}
