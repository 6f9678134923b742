import StorageInterface
import StoreValues

/// The macro's description of a property. The Swift type determines kind and optionality.
extension PropertySchema {
  public static func _property<Root, Property: Persistable>(
    _ name: String, _ path: KeyPath<Root, Property>, isPrimaryKey: Bool = false, isIndexed: Bool = false,
    isUnique: Bool = false, isFullText: Bool = false
  ) -> PropertySchema {
    PropertySchema(
      name: name, kind: Property._$kind, isOptional: Property._$isOptional, target: Property._$target,
      isPrimaryKey: isPrimaryKey, isIndexed: isIndexed, isUnique: isUnique, isFullText: isFullText,
      cases: Property._$cases)
  }

  public static func _property<Root, Property: Scalar>(
    _ name: String, _ path: KeyPath<Root, Property>, isPrimaryKey: Bool = false, isIndexed: Bool = false,
    isUnique: Bool = false, isFullText: Bool = false, default value: Property
  ) -> PropertySchema {
    PropertySchema(
      name: name, kind: Property._$kind, isOptional: Property._$isOptional, isPrimaryKey: isPrimaryKey,
      isIndexed: isIndexed, isUnique: isUnique, defaultValue: DefaultValue(value.persistedValue), isFullText: isFullText,
      cases: Property._$cases)
  }

  /// A derived property.
  public static func _property<Root, Property: Persistable>(
    _ name: String, _ path: KeyPath<Root, Property>, isIndexed: Bool = false, derivation: Derivation
  ) -> PropertySchema {
    PropertySchema(
      name: name, kind: Property._$kind, isOptional: Property._$isOptional, isIndexed: isIndexed, derivation: derivation)
  }

  /// A relationship with a delete rule.
  public static func _property<Root, Property: Persistable & RelationshipProperty>(
    _ name: String, _ path: KeyPath<Root, Property>, deleteRule: DeleteRule
  ) -> PropertySchema {
    PropertySchema(
      name: name, kind: Property._$kind, isOptional: Property._$isOptional, target: Property._$target,
      deleteRule: deleteRule)
  }

  /// Existing objects read nil for an optional property added later, whatever its default.
  public static func _property<Root, Wrapped: Scalar>(
    _ name: String, _ path: KeyPath<Root, Wrapped?>, isPrimaryKey: Bool = false, isIndexed: Bool = false,
    isUnique: Bool = false, isFullText: Bool = false, default value: Wrapped
  ) -> PropertySchema {
    _property(name, path, isPrimaryKey: isPrimaryKey, isIndexed: isIndexed, isUnique: isUnique, isFullText: isFullText)
  }

  /// An inverse; the compiler checks that the property it follows links to this type.
  public static func _inverse<Root: Model, Property: InverseProperty, Origin: Model, Link: RelationshipProperty>(
    _ name: String, _ path: KeyPath<Root, Property>, of origin: KeyPath<Origin, Link>, named property: String
  ) -> PropertySchema where Property.Origin == Origin, Link.Target == Root {
    PropertySchema(name: name, kind: .linkingObjects(origin: Origin._$name, property: property))
  }
}
