import Notifications
import StorageInterface
import StoreValues

/// An object as of one version: immutable, sendable, readable on any thread, with everything it links to.
///
/// ```swift
/// let frozen = try person.freeze()
/// Task.detached { print(frozen.name, frozen.dogs.map(\.name)) }
/// let live = frozen.thaw(in: store)
/// ```
///
/// While it or an object reached through it lives, its version is held in the file: space that newer commits free is not used
/// again. For a value that holds no version use `snapshot()`. A failed read (of the disk) gives zero and is logged, under every
/// `MisusePolicy`: it belongs to no store. `value(named:)` throws it.
@dynamicMemberLookup
public struct Frozen<T: Model>: Sendable, Identifiable {
  /// Identifies the object in any context.
  public let id: ObjectID
  private let read: SharedVersion

  init(_ key: ObjectKey, _ read: SharedVersion) {
    id = ObjectID(type: T._$name, key: key)
    self.read = read
  }

  /// The version that is read.
  public var version: Version { read.version }

  /// Identifies the object in any context.
  public var reference: ObjectReference<T> { ObjectReference(id: id, read.identity) }

  /// The live object in a store's version; nil if it does not exist there.
  public func thaw(in store: Store) -> T? { store.resolve(reference) }

  /// A scalar or link by its name: `.unknownProperty`, or the engine's error.
  public func value(named name: String) throws(StoreError) -> Value {
    guard let table = read.catalog[id.type], let column = table[name], column.schema.isScalar else {
      throw .unknownProperty(name, of: id.type)
    }
    return try storing { () throws(StorageError) in try read.value(table.column(column.id), id.key) }
  }

  private func copied(_ path: PartialKeyPath<T>) -> CopiedValue? {
    guard let ordinal = T.ordinal(of: path), let table = read.catalog[id.type],
      let column = table[T._$schema.properties[ordinal].name]
    else { return nil }
    return read.logged(try CopiedValue(column.schema, table.column(column.id), id.key, in: read)) ?? .scalar(.null)
  }

  /// An unmanaged object with the scalars and collections of scalars. Links are not copied.
  func unmanagedCopy() -> T {
    let object = T(_$blank: ())
    let paths = T._$keyPaths
    for (ordinal, property) in T._$schema.properties.enumerated() where property.isStored && !property.isRelationship {
      if let value = copied(paths[ordinal]) { object.fill(ordinal, with: value, of: read.identity) }
    }
    return object
  }

  /// An unmanaged object with the scalars of this one, on which computed properties are evaluated.
  private var computingCopy: T {
    let object = T(_$blank: ())
    for (ordinal, property) in T._$schema.properties.enumerated() where property.isScalar && !property.isRelationship {
      if let value = try? value(named: property.name) { object.fill(ordinal, with: .scalar(value), of: read.identity) }
    }
    return object
  }
}

extension Frozen: Hashable {
  public static func == (a: Self, b: Self) -> Bool { a.reference == b.reference && a.version == b.version }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension Frozen {
  /// A property's value in this version. Computed properties are evaluated on a copy with the object's scalars.
  public subscript<V: Scalar>(dynamicMember path: KeyPath<T, V>) -> V {
    guard let value = copied(path) else { return computingCopy[keyPath: path] }
    return V.copied(value.scalar, from: read.identity) ?? V._$zero
  }

  /// An optional property's value in this version.
  public subscript<V: Scalar>(dynamicMember path: KeyPath<T, V?>) -> V? {
    guard let value = copied(path) else { return computingCopy[keyPath: path] }
    return V.copied(value.scalar, from: read.identity)
  }

  /// The target of a link, frozen in the same version; for a to-one inverse the first object that links here.
  public subscript<M: Model>(dynamicMember path: KeyPath<T, M?>) -> Frozen<M>? {
    if let ordinal = T.ordinal(of: path), T._$schema.properties[ordinal].isInverse {
      let owners: [Frozen<M>] = sources(ordinal)
      return owners.first
    }
    return copied(path).flatMap { frozen($0.scalar) }
  }

  /// A list's values in this version, in their order.
  public subscript<V: Scalar>(dynamicMember path: KeyPath<T, LiveList<V>>) -> [V] {
    copied(path)?.elements.map { V.copied($0, from: read.identity) ?? V._$zero } ?? []
  }

  /// A list's objects, frozen in the same version, in their order.
  public subscript<M: Model>(dynamicMember path: KeyPath<T, LiveList<M>>) -> [Frozen<M>] {
    copied(path)?.elements.compactMap { frozen($0) } ?? []
  }

  /// The objects that link here, frozen in the same version.
  public subscript<M: Model>(dynamicMember path: KeyPath<T, LinkingObjects<M>>) -> [Frozen<M>] {
    T.ordinal(of: path).map { sources($0) } ?? []
  }

  /// A set's members in this version.
  public subscript<V: Scalar>(dynamicMember path: KeyPath<T, LiveSet<V>>) -> Set<V> {
    Set(copied(path)?.elements.compactMap { V.copied($0, from: read.identity) } ?? [])
  }

  /// A set's objects, frozen in the same version, in the set's order.
  public subscript<M: Model>(dynamicMember path: KeyPath<T, LiveSet<M>>) -> [Frozen<M>] {
    copied(path)?.elements.compactMap { frozen($0) } ?? []
  }

  /// A map's values in this version.
  public subscript<V: Scalar>(dynamicMember path: KeyPath<T, LiveMap<V>>) -> [String: V] {
    Dictionary(ofMap: copied(path)?.entries.map { ($0.key, V.copied($0.value, from: read.identity) ?? V._$zero) } ?? [])
  }

  /// A map's objects by their keys, frozen in the same version.
  public subscript<M: Model>(dynamicMember path: KeyPath<T, LiveMap<M>>) -> [String: Frozen<M>] {
    let entries = copied(path)?.entries ?? []
    return Dictionary(ofMap: entries.compactMap { entry in frozen(entry.value).map { (entry.key, $0) } })
  }

  private func frozen<M: Model>(_ link: Value) -> Frozen<M>? {
    guard case .link(let key) = link else { return nil }
    return Frozen<M>(key, read)
  }

  private func sources<M: Model>(_ ordinal: Int) -> [Frozen<M>] {
    guard case .linkingObjects(let type, let property) = T._$schema.properties[ordinal].kind,
      let origin = read.catalog[type], let column = origin[property]
    else { return [] }
    var found: [Frozen<M>] = []
    read.logged(
      try read.sources(of: id.key, through: origin.column(column.id)) { keys in
        for key in keys { found.append(Frozen<M>(ObjectKey(key), read)) }
        return .proceed
      })
    return found
  }
}

extension SharedVersion {
  /// A read that cannot throw where it is made. A failure is logged and gives nil; a deleted object gives nil alone.
  @discardableResult
  fileprivate func logged<R>(_ read: @autoclosure () throws(StorageError) -> R) -> R? {
    do throws(StorageError) { return try read() } catch {
      if error.code != .objectDeleted { StoreLog.warning("\(StoreError(error))") }
      return nil
    }
  }
}

extension Model {
  /// The object as it is in the store's version, usable on any thread.
  ///
  /// `.notManaged` for an unmanaged object, `.objectDeleted`, and `.alreadyInWrite` in a write, because uncommitted changes belong
  /// to no version yet.
  public func freeze() throws(StoreError) -> Frozen<Self> {
    guard let context else {
      throw StoreError(
        .notManaged, "The \(Self._$name) object is in no store, and so in no version of one.",
        remedy: "Add it first, or take a 'snapshot()'.")
    }
    guard !context.store.isInWriteTransaction else {
      throw StoreError(
        .alreadyInWrite, "A \(Self._$name) object cannot be frozen in a write.",
        remedy: "Freeze it after the commit, or take a 'snapshot()'.")
    }
    try context.check(_$key)
    return Frozen(ObjectKey(_$key), context.store.sharedSnapshot())
  }
}
