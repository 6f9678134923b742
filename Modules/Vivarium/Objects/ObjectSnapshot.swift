import StorageInterface
import StoreValues

/// A copy of an object's values at one moment: a plain sendable value that keeps no store open and no version held.
///
/// ```swift
/// let snapshot = person.snapshot()
/// await other.show(snapshot.name, age: snapshot.age, dogs: snapshot.dogs.count)
/// ```
///
/// Links and collections of objects are copied as `ObjectReference`s. Computed properties work if they depend on scalars only. Two
/// snapshots are equal if they are of the same object and all copied values are equal bit for bit.
@dynamicMemberLookup
public struct ObjectSnapshot<T: Model>: Sendable, Hashable {
  /// The object that was copied. The key is 0 for an unmanaged object.
  public let id: ObjectID
  private let store: StoreIdentity?
  /// By ordinal.
  private let values: [CopiedValue]

  init(_ object: T) {
    id = ObjectID(type: T._$name, key: ObjectKey(object._$key))
    let context = object.context
    store = context?.store.identity
    context?.store.settleDerived()
    values = T._$schema.properties.indices.map { ordinal in
      guard let context else { return CopiedValue(unmanaged: object[keyPath: T._$keyPaths[ordinal]]) }
      let property = context.properties[ordinal]
      do throws(StorageError) {
        return try CopiedValue(property.schema, property.column, ObjectKey(object._$key), in: context.store.reading)
      } catch {
        if error.code != .objectDeleted { context.store.misuse(StoreError(error)) }
        return .scalar(.null)
      }
    }
  }

  /// Identifies the object in any context.
  public var reference: ObjectReference<T> { ObjectReference(id: id, store) }

  /// A scalar or link by name; nil for other names.
  public subscript(name: String) -> Value? {
    guard let ordinal = T._$schema.properties.firstIndex(where: { $0.name == name && $0.isScalar }) else { return nil }
    return values[ordinal].scalar
  }

  /// A new unmanaged object with the copied scalars and collections of scalars. Links are not copied.
  public func unmanagedCopy() -> T {
    let object = T(_$blank: ())
    for (ordinal, property) in T._$schema.properties.enumerated() where property.isStored && !property.isRelationship {
      object.fill(ordinal, with: values[ordinal], of: store)
    }
    return object
  }

  private func copied(_ path: PartialKeyPath<T>) -> CopiedValue? { T.ordinal(of: path).map { values[$0] } }
}

extension Model {
  /// Sets a property of an unmanaged object to a value copied from a store. On a type mismatch the default remains.
  func fill(_ ordinal: Int, with value: CopiedValue, of store: StoreIdentity?) {
    func given(_ value: Value) -> Any? { AnyValue.linking(value, from: store) ?? value }
    switch value {
    case .scalar(let value): try? setUnmanaged(given(value), ordinal)
    case .list(let elements): try? setUnmanaged(elements.map { given($0) }, ordinal)
    case .map(let map): try? setUnmanaged(Dictionary(ofMap: map.entries.map { ($0.key, given($0.value)) }), ordinal)
    }
  }
}

extension ObjectSnapshot {
  /// A copied value. Computed properties are evaluated on a copy with the object's scalars.
  public subscript<V: Scalar>(dynamicMember path: KeyPath<T, V>) -> V {
    guard let value = copied(path) else { return unmanagedCopy()[keyPath: path] }
    return V.copied(value.scalar, from: store) ?? V._$zero
  }

  /// A copied value of an optional property.
  public subscript<V: Scalar>(dynamicMember path: KeyPath<T, V?>) -> V? {
    guard let value = copied(path) else { return unmanagedCopy()[keyPath: path] }
    return V.copied(value.scalar, from: store)
  }

  /// A reference to the target of a link.
  public subscript<M: Model>(dynamicMember path: KeyPath<T, M?>) -> ObjectReference<M>? {
    copied(path).flatMap { ObjectReference(link: $0.scalar, store) }
  }

  /// A list's values, in their order.
  public subscript<V: Scalar>(dynamicMember path: KeyPath<T, LiveList<V>>) -> [V] {
    copied(path)?.elements.map { V.copied($0, from: store) ?? V._$zero } ?? []
  }

  /// References to a list's objects, in their order.
  public subscript<M: Model>(dynamicMember path: KeyPath<T, LiveList<M>>) -> [ObjectReference<M>] {
    copied(path)?.elements.compactMap { ObjectReference(link: $0, store) } ?? []
  }
}

extension ObjectSnapshot {
  /// A set's members.
  public subscript<V: Scalar>(dynamicMember path: KeyPath<T, LiveSet<V>>) -> Set<V> {
    Set(copied(path)?.elements.compactMap { V.copied($0, from: store) } ?? [])
  }

  /// References to a set's objects.
  public subscript<M: Model>(dynamicMember path: KeyPath<T, LiveSet<M>>) -> Set<ObjectReference<M>> {
    Set(copied(path)?.elements.compactMap { ObjectReference(link: $0, store) } ?? [])
  }

  /// A map's values.
  public subscript<V: Scalar>(dynamicMember path: KeyPath<T, LiveMap<V>>) -> [String: V] {
    Dictionary(ofMap: copied(path)?.entries.map { ($0.key, V.copied($0.value, from: store) ?? V._$zero) } ?? [])
  }

  /// References to a map's objects, by their keys.
  public subscript<M: Model>(dynamicMember path: KeyPath<T, LiveMap<M>>) -> [String: ObjectReference<M>] {
    let entries = copied(path)?.entries ?? []
    return Dictionary(ofMap: entries.compactMap { entry in ObjectReference(link: entry.value, store).map { (entry.key, $0) } })
  }
}

extension Model {
  /// A copy of the object's present values: sendable, and holds no version. For a deleted object, zeroes.
  public func snapshot() -> ObjectSnapshot<Self> { ObjectSnapshot(self) }
}
