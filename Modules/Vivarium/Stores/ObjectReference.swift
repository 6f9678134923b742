import StoreValues

/// Names an object in any context. Sendable; keeps no object alive and pins no version.
///
/// ```swift
/// let reference = person.reference
/// try await store.write { store in reference.resolve(in: store)?.age += 1 }
/// ```
///
/// It belongs to one store: another store, where the same key names another object, does not resolve it.
public struct ObjectReference<T: Model>: Sendable, Hashable, Codable {
  /// The type and key of the object.
  public let id: ObjectID
  /// The object's store. nil in a reference to an unmanaged object, and in one encoded by a build that did not record it.
  public let store: StoreIdentity?

  /// Refers to a managed object; a reference to an unmanaged one resolves to nil.
  public init(_ object: T) {
    id = ObjectID(type: T._$name, key: ObjectKey(object._$key))
    store = object.store?.identity
  }

  /// Refers to an object by its key, which need not exist.
  package init(key: Int64, in store: Store) {
    self.init(id: ObjectID(type: T._$name, key: ObjectKey(key)), store.identity)
  }

  init(id: ObjectID, _ store: StoreIdentity?) {
    self.id = id
    self.store = store
  }

  /// nil if the value is not a link.
  init?(link: Value, _ store: StoreIdentity?) {
    guard case .link(let key) = link else { return nil }
    self.init(id: ObjectID(type: T._$name, key: key), store)
  }

  /// The object, live in that store's version; nil if the version does not have it, or the reference belongs to another store.
  /// Works inside a write.
  public func resolve(in store: Store) -> T? { store.resolve(self) }
}

extension Model {
  /// A sendable name for this object.
  public var reference: ObjectReference<Self> { ObjectReference(self) }
}

extension Store {
  /// The identity of the store: the same in every process that opens the file, and for a copy of it.
  public var identity: StoreIdentity { snapshot.catalog.identity ?? shared.localIdentity }

  /// The object a reference names; nil if this version does not have it, and, with a warning in the log, if it belongs to another
  /// store.
  public func resolve<T: Model>(_ reference: ObjectReference<T>) -> T? {
    let context = context(T.self)
    if tracksReads { context.didReadMembership() }
    if let origin = reference.store, origin != identity {
      readOfNothing(.wrongStore("The reference to a \(T._$name)"))
      return nil
    }
    guard context.lives(reference.id.key.rawValue) else { return nil }
    return live(reference.id.key.rawValue)
  }

  /// The object a reference names. Throws `.objectDeleted` or `.wrongStore`.
  public func object<T: Model>(_ reference: ObjectReference<T>) throws(StoreError) -> T {
    if let origin = reference.store, origin != identity { throw .wrongStore("The reference to a \(T._$name)") }
    if let object = resolve(reference) { return object }
    throw .objectDeleted(type: T._$name, key: reference.id.key.rawValue)
  }
}
