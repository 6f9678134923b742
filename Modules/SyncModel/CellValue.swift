public import StoreValues

/// A value as replicas exchange it: of a property, a list element, a set member or a map entry. A link, also one inside a list or map,
/// names its target by identity and epoch, because an object key means something in one file only.
///
/// Equality is bit-exact, so −0.0 and the digits of a decimal are kept. All NaNs of one kind are equal.
public enum CellValue: Hashable, Sendable {
  case plain(PlainValue)
  indirect case link(LinkTarget)
  /// A list inside a mixed value; replicated as one value.
  case list([CellValue])
  /// A map inside a mixed value; replicated as one value.
  case map(SortedTable<Name, CellValue>)

  /// No value.
  public static let null = CellValue.plain(.null)
  /// An integer.
  public static func int(_ x: Int64) -> CellValue { .plain(PlainValue(x)) }
  /// A text.
  public static func string(_ x: String) -> CellValue { .plain(PlainValue(x)) }

  /// Converts a value of a store.
  ///
  /// - Parameter target: returns what a link (`.link` or `.object`) points to; nil makes the link null.
  public init<E: Error>(_ value: Value, target: (Value) throws(E) -> LinkTarget?) throws(E) {
    switch value {
    case .link, .object: self = try target(value).map { .link($0) } ?? .null
    case .list(let elements):
      var list: [CellValue] = []
      for element in elements { list.append(try CellValue(element, target: target)) }
      self = .list(list)
    case .map(let map):
      var table = SortedTable<Name, CellValue>()
      for entry in map.entries { table[Name(entry.key)] = try CellValue(entry.value, target: target) }
      self = .map(table)
    default: self = .plain(PlainValue(value) ?? .null)  // never nil: `PlainValue` refuses only the kinds above
    }
  }

  /// Converts to a value of a store.
  ///
  /// - Parameter link: returns the store's value for a link; nil for a link that leads nowhere, which reads as null.
  public func value<E: Error>(_ link: (LinkTarget) throws(E) -> Value?) throws(E) -> Value {
    switch self {
    case .plain(let plain): return plain.value
    case .link(let target): return try link(target) ?? .null
    case .list(let elements):
      var list: [Value] = []
      for element in elements { list.append(try element.value(link)) }
      return .list(list)
    case .map(let table):
      var entries: [ValueMap.Entry] = []
      for entry in table { entries.append(ValueMap.Entry(entry.key.text, try entry.value.value(link))) }
      return .map(ValueMap(entries))
    }
  }

  /// The integer, if the value is one.
  var integer: Int64? {
    if case .plain(let plain) = self, case .int(let x) = plain.value { x } else { nil }
  }

  /// Visits the links in the value, including those inside lists and maps.
  package func forEachLink(_ body: (LinkTarget) -> Void) {
    switch self {
    case .plain: break
    case .link(let target): body(target)
    case .list(let elements): for element in elements { element.forEachLink(body) }
    case .map(let table): for entry in table { entry.value.forEachLink(body) }
    }
  }

  /// The value with the links severed for which `isGone` returns true; nil if there are none.
  func severing(_ isGone: (LinkTarget) -> Bool) -> CellValue? {
    switch self {
    case .plain: return nil
    case .link(let target): return isGone(target) ? .link(target.severed) : nil
    case .list(var elements):
      var isChanged = false
      for index in elements.indices {
        guard let severed = elements[index].severing(isGone) else { continue }
        elements[index] = severed
        isChanged = true
      }
      return isChanged ? .list(elements) : nil
    case .map(var table):
      var isChanged = false
      table.updateAll { value in
        guard let severed = value.severing(isGone) else { return }
        value = severed
        isChanged = true
      }
      return isChanged ? .map(table) : nil
    }
  }
}

extension CellValue {
  /// The key by which a set compares its members: the bytes of `Value.appendOrderKey` for everything but links, so 1 and 1.0 are one
  /// member. The key of a link is its object, whatever the epoch.
  public var memberKey: MemberKey {
    var key: [UInt8] = []
    appendMemberKey(to: &key)
    return MemberKey(bytes: key)
  }

  private func appendMemberKey(to key: inout [UInt8]) {
    switch self {
    case .plain(let plain): plain.value.appendOrderKey(to: &key)
    case .link(let target):
      // A byte above every kind of `Value`. The order key of `Value` would contain the object key, which differs between replicas.
      key.append(0xF0)
      Value.string(target.object.className.text).appendOrderKey(to: &key)
      switch target.object.key {
      case .created(let replica, let number):
        Value.int(Int64(bitPattern: replica.rawValue)).appendOrderKey(to: &key)
        Value.int(number.rawValue).appendOrderKey(to: &key)
      default: (target.object.primaryKey ?? .null).appendOrderKey(to: &key)
      }
    case .list(let elements):
      key.append(0xF1)
      for element in elements { element.appendMemberKey(to: &key) }
      key.append(0)
    case .map(let table):
      key.append(0xF2)
      for entry in table {
        Value.string(entry.key.text).appendOrderKey(to: &key)
        entry.value.appendMemberKey(to: &key)
      }
      key.append(0)
    }
  }
}

/// The key of a set's member; see `CellValue.memberKey`. Computed from the value, never stored.
public struct MemberKey: Hashable, Comparable, Sendable {
  /// The bytes of the key: the same on every replica for the same member.
  public let bytes: [UInt8]

  /// By bytes.
  public static func < (a: Self, b: Self) -> Bool { a.bytes.lexicographicallyPrecedes(b.bytes) }
}
