import StoreValues
import Synchronization

/// Which coding key a stored property of a `PersistableStruct` has.
///
/// Swift does not say. A struct that differs from its default in that property alone is encoded, and what differs is the key.
enum StructFields {
  /// A stored property: of two at one place, one of them has no size, and so another type.
  private struct Place: Hashable {
    let type: ObjectIdentifier
    let property: ObjectIdentifier
    let offset: Int
  }

  private static let known = Mutex<[Place: String]>([:])

  /// Nil for what is no stored property, and where it cannot be found out. Any thread.
  static func codingKey<S: PersistableStruct, V>(of path: KeyPath<S, V>) -> String? {
    guard let offset = MemoryLayout<S>.offset(of: path) else { return nil }
    let place = Place(type: ObjectIdentifier(S.self), property: ObjectIdentifier(V.self), offset: offset)
    if let name = known.withLock({ $0[place] }) { return name }
    guard let name = found(path) else { return nil }
    known.withLock { $0[place] = name }
    return name
  }

  private static func found<S: PersistableStruct, V>(_ path: KeyPath<S, V>) -> String? {
    let plain = S()
    guard let before = fields(of: plain) else { return nil }
    if let writable = path as? WritableKeyPath<S, V>, let other = another(V.self, than: plain[keyPath: path]) {
      var changed = plain
      changed[keyPath: writable] = other
      let after = fields(of: changed) ?? [:]
      let differing = Set(before.keys).union(after.keys).filter { before[$0] != after[$0] }
      return differing.count == 1 ? differing.first : nil
    }
    // A constant, or of a type that no value is known of: its name, if there is a key that is called so.
    let name = "\(path)".split(separator: ".").last.map(String.init)
    return name.flatMap { before[$0] == nil ? nil : $0 }
  }

  private static func fields(of value: some PersistableStruct) -> [String: Value]? {
    guard case .map(let map) = value.persistedValue else { return nil }
    return Dictionary(map.entries.map { ($0.key, $0.value) }) { $1 }
  }

  private static func another<V>(_ type: V.Type, than value: V) -> V? {
    if let optional = type as? any OptionalScalar.Type { return optional.something(but: value) as? V }
    return (type as? any Scalar.Type)?.something(but: value) as? V
  }
}

extension CaseIterable {
  fileprivate static var allPersistedValues: [Value] { allCases.compactMap { ($0 as? any Scalar)?.persistedValue } }
}

private protocol OptionalScalar {
  static func something(but value: Any) -> Any?
}

extension Optional: OptionalScalar where Wrapped: Scalar {
  static func something(but value: Any) -> Any? { Wrapped.something(but: value) }
}

extension Scalar {
  /// Some value of the type that is another one.
  fileprivate static func something(but value: Any) -> Any? {
    let given = (value as? Self)?.persistedValue
    for candidate in candidates(given) {
      if let made = Self(persisted: candidate), made.persistedValue != given { return made }
    }
    return nil
  }

  private static func candidates(_ given: Value?) -> [Value] {
    // Of a struct one of whose fields is another.
    if case .map(let map) = given {
      return map.entries.flatMap { entry in
        plain.map { value in .map(ValueMap(map.entries.map { $0.key == entry.key ? ValueMap.Entry(entry.key, value) : $0 })) }
      }
    }
    return enumerated + plain
  }

  /// The raw values of an enum.
  private static var enumerated: [Value] {
    (self as? any CaseIterable.Type)?.allPersistedValues ?? []
  }

  private static var plain: [Value] {
    [
      .bool(true), .bool(false), .int(1), .int(2), .double(1), .double(2), .float(1), .float(2), .string("1"), .string("2"),
      .date(Timestamp(secondsSinceReferenceDate: 1)), .date(Timestamp(secondsSinceReferenceDate: 2)), .decimal(1), .decimal(2),
    ]
  }
}
