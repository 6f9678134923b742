import StorageInterface
import StoreValues

// The store that a mixed value's links belong to. A file stores a link as two numbers, which name another object in another file.

extension AnyValue {
  /// A value read from a store.
  init(_ value: StoreValues.Value, of store: Store) {
    self.init(value)
    if value.mayLink { self.store = store.identity }
  }

  /// A value that was read from a store and may link to its objects; nil for any other value.
  static func linking(_ value: StoreValues.Value, from store: StoreIdentity?) -> AnyValue? {
    guard value.mayLink, let store else { return nil }
    var made = AnyValue(value)
    made.store = store
    return made
  }

  /// The store whose objects an untyped value links to; see `common`.
  static func store(of given: Any?, depth: Int = 0) -> StoreIdentity? {
    guard depth <= MixedCoding.depthMax, let given = StoreValues.Value.unwrapped(given) else { return nil }
    switch given {
    case let value as AnyValue: return value.store
    case let object as any Model: return object.store?.identity
    case let elements as [Any?]: return common(elements.map { store(of: $0, depth: depth + 1) })
    case let entries as [String: Any?]: return common(entries.map { store(of: $0.value, depth: depth + 1) })
    default: return nil
    }
  }

  /// A part of a nested value.
  init(part value: StoreValues.Value, of whole: AnyValue) {
    self.init(value)
    if value.mayLink { store = whole.store }
  }

  /// The common store of the parts; an identity that no store has if the parts belong to different stores.
  static func common(_ stores: [StoreIdentity?]) -> StoreIdentity? {
    let known = Set(stores.compactMap(\.self))
    return known.count > 1 ? StoreIdentity() : known.first
  }

  /// Throws `.wrongStore` for links to another store's objects.
  func check(for own: StoreIdentity) throws(StoreError) {
    guard let linkedStore, linkedStore != own else { return }
    throw .wrongStore("An object that a mixed value links to")
  }

  /// Checks an untyped value: a mixed value, or an array or a dictionary that contains some.
  static func check(_ given: Any?, for own: StoreIdentity, depth: Int = 0) throws(StoreError) {
    guard depth <= MixedCoding.depthMax, let given = StoreValues.Value.unwrapped(given) else { return }
    switch given {
    case let value as AnyValue: try value.check(for: own)
    case let object as any Model: try AnyValue(object).check(for: own)
    case let elements as [Any?]: for element in elements { try check(element, for: own, depth: depth + 1) }
    case let entries as [String: Any?]: for (_, value) in entries { try check(value, for: own, depth: depth + 1) }
    default: break
    }
  }

  /// The store of the objects that the value links to; nil if it links to none, or the store is unknown. O(parts).
  var linkedStore: StoreIdentity? { store != nil && value.links ? store : nil }

  /// Whether what the values link to may be the same objects: false for those of different stores.
  func mayLink(as other: Self) -> Bool {
    guard let store, let theirs = other.store, store != theirs else { return true }
    return !value.links || !other.value.links
  }

  public static func == (a: Self, b: Self) -> Bool { a.value == b.value && a.mayLink(as: b) }
  public func hash(into hasher: inout Hasher) { hasher.combine(value) }
}

/// The identity of a mixed value in a set outside of a store: equal where the store would have one member.
struct MixedIdentity: Hashable {
  private let key: [UInt8]
  private let mixed: AnyValue

  init(_ mixed: AnyValue) { (key, self.mixed) = (mixed.value.orderKey, mixed) }

  static func == (a: Self, b: Self) -> Bool { a.key == b.key && a.mixed.mayLink(as: b.mixed) }
  func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

extension AnyValue {
  public static func _$load(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> AnyValue {
    _$loadOptional(raw, key, ordinal) ?? _$zero
  }

  public static func _$loadOptional(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> AnyValue? {
    assert(raw.reportsReadElsewhere())
    let window = raw.windows + ordinal
    let found: AnyValue?
    if let row = window.pointee.row(of: key) {
      found = window.pointee.vector.isNull(at: row) ? nil : _$decode(window.pointee.vector, row)
    } else {
      found = _$fetch(raw, key, ordinal)
    }
    return found.map { AnyValue($0.value, of: raw.context.store) }
  }

  public func _$set(_ context: ModelContext, _ key: Int64, _ ordinal: Int) {
    do throws(StoreError) { try check(for: context.store.identity) } catch { return context.store.refuse(error) }
    context.set(key, ordinal, value)
  }

  public static func _$put(_ adoption: Adoption, _ ordinal: Int, _ value: AnyValue) {
    do throws(StoreError) { try value.check(for: adoption.store) } catch { adoption.refuse(error) }
    value._$put(adoption.row, adoption.slots[ordinal])
  }

  public static func _$putOptional(_ adoption: Adoption, _ ordinal: Int, _ value: AnyValue?) {
    if let value { _$put(adoption, ordinal, value) } else { adoption.row.setNull(adoption.slots[ordinal]) }
  }

  public func _$elementValue(_ store: Store) throws(StoreError) -> StoreValues.Value {
    try check(for: store.identity)
    return value
  }

  public static func _$pending(_ elements: [AnyValue]) -> PendingElements { .mixed(elements) }
}

extension Scalar {
  /// A value that was copied from a store. If it is mixed, its links stay links to that store's objects.
  static func copied(_ value: Value, from store: StoreIdentity?) -> Self? {
    if self == AnyValue.self, let linking = AnyValue.linking(value, from: store) { return linking as? Self }
    return Self(persisted: value)
  }
}

extension StoreValues.Value {
  /// Whether it may contain links. O(1).
  fileprivate var mayLink: Bool {
    switch self {
    case .object, .list, .map: true
    default: false
    }
  }

  /// Whether it contains a link.
  fileprivate var links: Bool {
    switch self {
    case .object: true
    case .list(let values): values.contains(where: \.links)
    case .map(let map): map.entries.contains(where: \.value.links)
    default: false
    }
  }
}
