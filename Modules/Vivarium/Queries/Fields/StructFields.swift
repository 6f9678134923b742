import StoreValues
import Synchronization

/// Finds the coding key of a stored property of a `PersistableStruct`.
///
/// Swift does not tell. So a struct that differs from its default in that property alone is encoded; the key that differs is the
/// one.
enum StructFields {
  /// A stored property. The type distinguishes two at the same offset: one of them has size 0, so their types differ.
  private struct Place: Hashable {
    let type: ObjectIdentifier
    let property: ObjectIdentifier
    let offset: Int
  }

  private static let known = Mutex<[Place: String]>([:])

  /// Nil for a path that is not a stored property, and if the key cannot be determined. Any thread.
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
    // A constant, or a type without known other values: the property's name, if such a key exists.
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
  /// A value of the type that differs from the given one.
  fileprivate static func something(but value: Any) -> Any? {
    let given = (value as? Self)?.persistedValue
    for candidate in candidates(given) {
      if let made = Self(persisted: candidate), made.persistedValue != given { return made }
    }
    return nil
  }

  private static func candidates(_ given: Value?) -> [Value] {
    // For a struct: copies in which one field differs.
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
