import Vivarium

/// An object, or the one that has taken its place: observers follow an object that is deleted and created again with its primary key, and
/// the first instance is invalidated then.
struct FollowedObject<T: Model> {
  private let object: T
  /// nil for a type without one.
  private let primaryKey: Value?

  init(_ object: T) {
    self.object = object
    primaryKey = object.isInvalidated ? nil : T._$schema.properties.first(where: \.isPrimaryKey).flatMap { object[$0.name] }
  }

  /// The object in the store's version; the invalidated one if there is none.
  var present: T {
    guard object.isInvalidated, let store = object.store, let primaryKey,
      let found = try? store.dynamicObject(T._$name, forPrimaryKey: primaryKey)
    else { return object }
    return store.resolve(ObjectReference<T>(key: found.id.key.rawValue, in: store)) ?? object
  }
}
