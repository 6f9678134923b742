import StoreValues

/// Names an object in any context: sendable, keeps nothing alive and no version pinned.
///
/// ```swift
/// let reference = person.reference
/// try await store.write { store in reference.resolve(in: store)?.age += 1 }
/// ```
///
/// It is of one store: another one, in which the same key is another object, does not resolve it.
public struct ObjectReference<T: Model>: Sendable, Hashable, Codable {
  /// The type and key that it names.
  public let id: ObjectID
  /// Whose object it is. nil in a reference to an unmanaged object, and in one that was encoded by a build that did not say.
  public let store: StoreIdentity?

  /// Refers to a managed object; a reference to an unmanaged one resolves to nothing.
  public init(_ object: T) {
    id = ObjectID(type: T._$name, key: ObjectKey(object._$key))
    store = object.store?.identity
  }

  /// Refers to an object by its key, whether there is one or not.
  package init(key: Int64, in store: Store) {
    self.init(id: ObjectID(type: T._$name, key: ObjectKey(key)), store.identity)
  }

  init(id: ObjectID, _ store: StoreIdentity?) {
    self.id = id
    self.store = store
  }

  /// nil when the value is no link.
  init?(link: Value, _ store: StoreIdentity?) {
    guard case .link(let key) = link else { return nil }
    self.init(id: ObjectID(type: T._$name, key: key), store)
  }

  /// The object, live in that store's version; nil when it is not there, or the reference is another store's. Works inside a write.
  public func resolve(in store: Store) -> T? { store.resolve(self) }
}

extension Model {
  /// A name for this object that can be sent elsewhere.
  public var reference: ObjectReference<Self> { ObjectReference(self) }
}

extension Store {
  /// Which store this is: the same in every process that opens the file, and for a copy of it.
  public var identity: StoreIdentity { snapshot.catalog.identity ?? shared.localIdentity }

  /// The object a reference names; nil when this version has none, and, with a warning in the log, when it is another store's.
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

  /// The object a reference names, or why there is none: `.objectDeleted`, `.wrongStore`.
  public func object<T: Model>(_ reference: ObjectReference<T>) throws(StoreError) -> T {
    if let origin = reference.store, origin != identity { throw .wrongStore("The reference to a \(T._$name)") }
    if let object = resolve(reference) { return object }
    throw .objectDeleted(type: T._$name, key: reference.id.key.rawValue)
  }
}
