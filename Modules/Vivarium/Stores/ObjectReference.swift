import Values

/// Names an object in any context: sendable, keeps nothing alive and no version pinned.
///
/// ```swift
/// let reference = person.reference
/// try await store.write { store in reference.resolve(in: store)?.age += 1 }
/// ```
public struct ObjectReference<T: Model>: Sendable, Hashable, Codable {
  /// The type and key that it names.
  public let id: ObjectID

  /// Refers to a managed object; a reference to an unmanaged one resolves to nothing.
  public init(_ object: T) { id = ObjectID(type: T._$name, key: ObjectKey(object._$key)) }

  /// Refers to an object by its key, whether there is one or not.
  package init(key: Int64) { id = ObjectID(type: T._$name, key: ObjectKey(key)) }

  /// The object, live in that store's version; nil when it is not there. Works inside a write.
  public func resolve(in store: Store) -> T? { store.resolve(self) }
}

extension Model {
  /// A name for this object that can be sent elsewhere.
  public var reference: ObjectReference<Self> { ObjectReference(self) }
}

extension Store {
  /// The object a reference names; nil when this version has none.
  public func resolve<T: Model>(_ reference: ObjectReference<T>) -> T? {
    let context = context(T.self)
    if tracksReads { context.didReadMembership() }
    guard context.lives(reference.id.key.rawValue) else { return nil }
    return live(reference.id.key.rawValue)
  }
}
