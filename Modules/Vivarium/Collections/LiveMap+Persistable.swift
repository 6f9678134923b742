import StorageInterface
import StoreValues

extension LiveMap: Persistable where Value: PersistableElement {
  public static var _$kind: PropertyKind { .map(Value._$elementType) }
  public static var _$isOptional: Bool { Value._$elementType == .mixed }
  public static var _$target: String? { Value._$elementTarget }
  public static var _$cases: [DefaultValue]? { Value._$elementCases }

  public static func _$load(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self {
    let context = raw.context
    return Self(ListHandle(store: context.store, context: context, key: key, ordinal: ordinal))
  }

  /// Assigning a map replaces the entries; entries that are equal in both maps are not changed. If one is rejected, the map stays
  /// as it was.
  public static func _$store(_ raw: RawContext, _ key: Int64, _ ordinal: Int, _ value: Self) {
    let own = _$load(raw, key, ordinal)
    if case .store(let given) = value.place, case .store(let handle) = own.place, given.context === handle.context,
      given.key == key, given.ordinal == ordinal
    {
      return
    }
    guard case .store(let handle) = own.place else { return }
    let entries = value.entries
    handle.changeWhole(with: entries.map(\.value), forKeys: entries.map(\.key)) { (values, write) throws(StorageError) in
      let replaced = zip(entries, values).map { ValueMap.Entry($0.key, $1) }
      return try write.replaceMap(handle.column, ObjectKey(handle.key), replaced, asDictionary: value.isDictionary)
    }
  }

  public static func _$put(_ adoption: Adoption, _ ordinal: Int, _ value: Self) {
    let entries = value.entries
    if entries.isEmpty && !adoption.keepsEmptyLists { return }
    adoption.pending.append(
      Adoption.Pending(
        ordinal: ordinal, elements: Value._$pending(entries.map(\.value)), shape: .map(entries.map(\.key)),
        isDictionary: value.isDictionary))
  }

  public static func _$loose(_ given: Any?, _ property: PropertySchema, of type: String) throws(StoreError) -> Self {
    if let map = given as? Self { return map }
    if StoreValues.Value.isNull(given) { return Self([:]) }
    guard let dictionary = StoreValues.Value.unwrapped(given) as? [String: Any?] else { throw .typeMismatch(given, property) }
    var entries: [String: Value] = [:]
    for (key, value) in dictionary {
      guard let made = try Value._$looseElement(value, property, of: type) else { throw .typeMismatch(nil, property) }
      entries[key] = made
    }
    return Self(entries)
  }
}
