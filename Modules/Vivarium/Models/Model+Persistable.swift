import StorageInterface
import StoreValues

/// To-one links and elements of lists.
extension Model {
  public static var _$elementType: ValueType { .link }
  public static var _$elementTarget: String? { _$name }

  public static func _$loadOptional(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self? {
    let context = raw.context
    return context.word(key, ordinal).map { context.store.live($0) }
  }

  public static func _$storeOptional(_ raw: RawContext, _ key: Int64, _ ordinal: Int, _ value: Self?) {
    let context = raw.context
    // Setting an embedded object to the place it already has is allowed.
    if let value, value.context === context.store.context(Self.self), context.word(key, ordinal) == value._$key { return }
    do throws(StoreError) {
      guard let value else { return try context.setLink(key, ordinal, to: nil) }
      // Otherwise an embedded object assigned to a deleted object would remain without an owner.
      if !value.isManaged, context.store.writing != nil { try context.check(key) }
      try context.store.addingAll { () throws(StoreError) in
        try context.setLink(key, ordinal, to: try context.store.keyOfAdded(value))
      }
    } catch {
      context.store.refuse(error)
    }
  }

  public static func _$putOptional(_ adoption: Adoption, _ ordinal: Int, _ value: Self?) {
    guard let value else { return adoption.row.setNull(adoption.slots[ordinal]) }
    adoption.pending.append(Adoption.Pending(ordinal: ordinal, elements: .objects([value]), shape: .link))
  }

  public static func _$element(_ vector: ColumnVector, _ row: Int, _ store: Store) -> Self? {
    vector.isNull(at: row) ? nil : store.live(vector.word(at: row))
  }
  public static func _$element(_ value: Value, _ store: Store) -> Self? {
    if case .link(let key) = value { store.live(key.rawValue) } else { nil }
  }
  public static func _$placeholder(_ store: Store) -> Self { store.live(0) }
  public func _$elementValue(_ store: Store) throws(StoreError) -> Value {
    .link(ObjectKey(try store.keyOfAdded(self)))
  }
  public static func _$pending(_ elements: [Self]) -> PendingElements { .objects(elements) }

  /// An object as it is, or a new unmanaged one from a dictionary.
  public static func _$looseElement(
    _ given: Any?, _ property: PropertySchema, of type: String
  ) throws(StoreError) -> Self? {
    guard let given = Value.unwrapped(given), !Value.isNull(given) else { return nil }
    if let object = given as? Self { return object }
    guard let values = given as? [String: Any?], !Value.nests(values, deeperThan: Creation.depthMax) else {
      throw .typeMismatch(given, property)
    }
    let object = Self(_$blank: ())
    for (name, value) in values { try object.setValue(value, forKey: name) }
    return object
  }
}

/// A link to one object, or an inverse with at most one object.
protocol ToOneEnd {
  /// The type of the object.
  static var target: any Model.Type { get }
}

extension Optional: ToOneEnd where Wrapped: Model {
  static var target: any Model.Type { Wrapped.self }
}

/// The inverse of a to-one link or a list, if it has at most one object: `@Inverse(\Person.best) var bestOf: Person?`.
extension Optional: InverseProperty where Wrapped: Model {
  public typealias Origin = Wrapped
  public static func _$inverse(_ raw: RawContext, _ key: Int64, _ ordinal: Int) -> Self {
    LinkingObjects<Wrapped>._$inverse(raw, key, ordinal).first
  }
  public static var _$unmanaged: Self { nil }
}
