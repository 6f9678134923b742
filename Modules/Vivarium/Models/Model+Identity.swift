import StorageInterface
import StoreValues

extension Model {
  /// The object's context; nil for an unmanaged object. The object retains its store, and the store the context.
  var context: ModelContext? { _$raw.map { $0.pointee.context } }

  /// The store the object belongs to; nil for an unmanaged object.
  public var store: Store? { context?.store }

  /// Whether the object belongs to a store.
  public var isManaged: Bool { _$raw != nil }

  /// Whether the object was in a store and no longer is: deleted, or created in a write that was cancelled. Reading it returns
  /// zeroes, as `MisusePolicy` says. False for unmanaged objects.
  public var isInvalidated: Bool {
    guard let context else { return false }
    if context.store.tracksReads { context.didReadMembership() }
    return !context.lives(_$key)
  }

  /// The object's identity in its store, unless the model has an `id` of its own. The key is 0 in an unmanaged object.
  public var id: ObjectID { ObjectID(type: Self._$name, key: ObjectKey(_$key)) }

  /// `Type-primaryKey`, or `Type-key` for types without a primary key.
  public var objectIdentifier: String {
    if let context { return "\(Self._$name)-\(primaryKeyOrdinal.map { "\(context.value(_$key, $0))" } ?? "\(_$key)")" }
    return "\(Self._$name)-\(primaryKeyValue.map { "\($0)" } ?? "\(_$key)")"
  }

  private var primaryKeyOrdinal: Int? { Self._$schema.properties.firstIndex(where: \.isPrimaryKey) }

  /// nil for a type without a primary key.
  private var primaryKeyValue: Value? {
    primaryKeyOrdinal.map { ordinal in
      context.map { $0.value(_$key, ordinal) } ?? CopiedValue(unmanaged: self[keyPath: Self._$keyPaths[ordinal]]).scalar
    }
  }

  /// Whether both have the same primary key, in any stores or in none. False for types without one.
  public func hasSamePrimaryKey(as other: Self) -> Bool {
    guard let key = primaryKeyValue else { return false }
    return other.primaryKeyValue == key
  }

  /// Whether both are the same object of the same store, or the same instance.
  public func isSameObject(as other: Self) -> Bool { self == other }

  public static func == (a: Self, b: Self) -> Bool {
    if a === b { return true }
    guard let first = a.context, let second = b.context else { return false }
    return a._$key == b._$key && (first === second || first.store.shared === second.store.shared)
  }

  public func hash(into hasher: inout Hasher) {
    if _$raw == nil { hasher.combine(ObjectIdentifier(self)) } else { hasher.combine(_$key) }
  }

  /// A readable description: the type and its scalar values.
  public var description: String {
    guard let context else { return "\(Self._$name)(unmanaged)" }
    guard context.lives(_$key) else { return "\(Self._$name)(deleted)" }
    let values = context.properties.indices.compactMap { ordinal -> String? in
      guard context.properties[ordinal].schema.isScalar else { return nil }
      return "\(context.properties[ordinal].schema.name): \(context.value(_$key, ordinal))"
    }
    return "\(Self._$name)(\(values.joined(separator: ", ")))"
  }
}

extension Model {
  /// A property's value, or an error: `.objectDeleted`, or the engine's. Reading the property itself cannot throw.
  public func value<V>(of path: KeyPath<Self, V>) throws(StoreError) -> V {
    if let context { try context.check(_$key) }
    return self[keyPath: path]
  }

  /// A scalar by its name, for code that does not know the Swift type. nil for unknown names and collections; null if there is no
  /// value or no object. Setting needs a write, like setting the property.
  public subscript(name: String) -> Value? {
    get {
      guard let context, let ordinal = context.ordinal(named: name), context.properties[ordinal].schema.isScalar
      else { return nil }
      if context.raw.pointee.tracksReads { context.didRead(_$key, ordinal) }
      return context.value(_$key, ordinal)
    }
    set {
      guard let context else { return }
      guard let ordinal = context.ordinal(named: name) else {
        return context.store.refuse(.unknownProperty(name, of: Self._$name))
      }
      do throws(StoreError) { try context.check(newValue ?? .null, for: ordinal) } catch { return context.store.refuse(error) }
      context.set(_$key, ordinal, newValue ?? .null)
    }
  }

  /// The position of a property in the model; nil for a path that is not a persisted property. O(1) for a cached path, otherwise
  /// O(properties).
  static func ordinal(of path: AnyKeyPath) -> Int? { property(of: path)?.ordinal }

  /// The stored name of a property.
  static func propertyName(of path: AnyKeyPath) -> String? { property(of: path)?.name }

  /// The path of a property for a condition; a path that is not a property yields its description, which binding then reports.
  @usableFromInline static func fieldPath(of path: AnyKeyPath) -> [String] { property(of: path)?.path ?? ["\(path)"] }

  private static func property(of path: AnyKeyPath) -> KnownKeyPaths.Property? {
    if let known = KnownKeyPaths.property(of: path, in: Self.self) { return known }
    guard let ordinal = _$keyPaths.firstIndex(where: { ($0 as AnyKeyPath) == path }) else { return nil }
    let property = KnownKeyPaths.Property(ordinal: ordinal, path: [_$schema.properties[ordinal].name])
    KnownKeyPaths.keep(path, in: Self.self, property)
    return property
  }
}
