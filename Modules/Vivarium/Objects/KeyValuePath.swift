import StorageInterface
import StoreValues

/// A path of names to follow from an object: properties, and aggregates of collections.
struct KeyValuePath {
  private let text: String
  private let names: [String]

  init(_ text: String) {
    self.text = text
    // A key of a map may begin with a mark that is one character with the dot.
    names = text.unicodeScalars.split(separator: ".", omittingEmptySubsequences: false).map { String($0) }
  }

  func value(from root: Any?) throws(StoreError) -> Any? { try value(from: root, names[...]) }

  func set(_ value: Any?, from root: any Model) throws(StoreError) {
    guard let last = names.last else { throw unknown(text) }
    let owner = try self.value(from: root, names.dropLast())
    switch Value.unwrapped(owner) {
    case nil: return
    case let object as any Model: try object.setValue(value, forKey: last)
    default: throw unknown(text)
    }
  }

  private func value(from root: Any?, _ rest: ArraySlice<String>) throws(StoreError) -> Any? {
    guard let name = rest.first, let root = Value.unwrapped(root) else { return Value.unwrapped(root) }
    if let object = root as? any Model { return try value(from: try object.value(forKey: name), rest.dropFirst()) }
    if let map = root as? any KeyValueMap {
      if name == "@count" { return map.untypedEntries.count }
      return try value(from: map.untypedEntries.first { MapKey($0.key) == MapKey(name) }?.value, rest.dropFirst())
    }
    guard let elements = (root as? any KeyValueCollection)?.untypedElements ?? (root as? [Any?]) else { throw unknown(name) }
    if name.hasPrefix("@") { return try aggregate(name, of: elements, rest.dropFirst()) }
    var values: [Any?] = []
    for element in elements { values.append(try value(from: element, rest)) }
    return values
  }

  private func aggregate(_ name: String, of elements: [Any?], _ rest: ArraySlice<String>) throws(StoreError) -> Any? {
    if name == "@count" { return elements.count }
    var values: [Value] = []
    for element in elements {
      guard let value = Value.unwrapped(try value(from: element, rest)) else { continue }
      guard let scalar = value as? any Scalar else { throw unknown(text) }
      values.append(scalar.persistedValue)
    }
    switch name {
    case "@min": return values.filter { !$0.isNaN }.min { $0.order(to: $1) == .before }?.plain
    case "@max": return values.filter { !$0.isNaN }.max { $0.order(to: $1) == .before }?.plain
    case "@sum": return try sum(values)
    case "@avg": return try average(values)
    default: throw unknown(name)
    }
  }

  /// The sum: an Int if all values are integers, a decimal if all are decimals, otherwise a Double.
  private func sum(_ values: [Value]) throws(StoreError) -> Any {
    if let decimals = decimals(values) { return decimals.value }
    // A part of the sum may need more than the whole.
    var total: Int128 = 0
    for value in values {
      guard case .int(let number) = value else { return try numbers(values).value }
      total += Int128(number)
    }
    guard let sum = Int(exactly: total) else { throw StoreError(.overflow, "The sum of '\(text)' does not fit an Int64.") }
    return sum
  }

  /// nil if there are no values.
  private func average(_ values: [Value]) throws(StoreError) -> Any? {
    if values.isEmpty { return nil }
    if let decimals = decimals(values) { return decimals.value / Decimal128(values.count) }
    return try numbers(values).value / Double(values.count)
  }

  // Added as results and collections add them, so that the last digit is the same.

  /// The sum of decimals; nil if there are no values, or if any has another type.
  private func decimals(_ values: [Value]) -> DecimalSum? {
    var sum = DecimalSum()
    for value in values {
      guard case .decimal(let number) = value else { return nil }
      sum.add(number)
    }
    return values.isEmpty ? nil : sum
  }

  private func numbers(_ values: [Value]) throws(StoreError) -> RealSum {
    var sum = RealSum()
    for value in values {
      switch value {
      case .int(let x): sum.add(Double(x))
      case .float(let x): sum.add(Double(x))
      case .double(let x): sum.add(x)
      case .decimal(let x): sum.add(Double(x))
      default: throw unknown(text)
      }
    }
    return sum
  }

  private func unknown(_ name: String) -> StoreError {
    StoreError(.unknownProperty, "'\(name)' in the path '\(text)' leads nowhere.", details: ["path": text])
  }
}

extension Value {
  /// The value as a plain Swift value; nil for null.
  var plain: Any? {
    switch self {
    case .null: nil
    case .bool(let x): x
    case .int(let x): Int(x)
    case .float(let x): x
    case .double(let x): x
    case .string(let x): x
    case .data(let x): x
    case .date(let x): x.date
    case .uuid(let x): x
    case .objectId(let x): x
    case .decimal(let x): x
    case .link(let x): x
    case .object(let x): x
    case .list(let x): x.map(\.plain)
    case .map(let x): Dictionary(ofMap: x.entries.map { ($0.key, $0.value.plain) })
    }
  }
}
