import Vivarium

extension Store {
  /// Ready-made operations to compose: `Store.IO.objects(Dog.self).flatMap(Store.IO.delete)`.
  public enum IO {}
}

// MARK: - Reading

extension Store.IO {
  /// The store that runs the operation.
  public static func ask() -> StoreRO<Store> { .ask }

  /// All objects of a type, live in the store that runs the operation.
  public static func objects<T: Model>(_ type: T.Type) -> StoreRO<Results<T>> { StoreRO { $0.objects(type) } }

  /// All objects of the type with this name. Throws `.unknownType`.
  public static func dynamicObjects(_ type: String) -> StoreRO<DynamicResults> {
    StoreRO { try $0.dynamicObjects(type) }
  }

  /// The object with a primary key; nil if there is none.
  public static func object<T: Model, Key: Scalar & Sendable>(
    ofType type: T.Type, forPrimaryKey key: Key
  ) -> StoreRO<T?> {
    StoreRO { $0.object(type, forPrimaryKey: key) }
  }

  /// The object of a reference; nil if it was deleted.
  public static func object<T: Model>(_ reference: ObjectReference<T>) -> StoreRO<T?> { StoreRO { $0.resolve(reference) } }
}

extension Store.IO {
  /// An unmanaged copy of an object: its scalars and collections of scalars. Throws `.objectDeleted` if the object was deleted.
  public static func unmanaged<T: Model>(_ object: T) -> StoreRO<T> {
    let reference = object.reference
    return StoreRO { try $0.existing(reference).snapshot().unmanagedCopy() }
  }
}

extension StoreIO where RW == ReadOnly {
  /// For example `StoreRO<Dog?>.object(forPrimaryKey: 7)`.
  public static func object<Object: Model, Key: Scalar & Sendable>(
    forPrimaryKey key: Key
  ) -> StoreRO<Object?> where T == Object? {
    Store.IO.object(ofType: Object.self, forPrimaryKey: key)
  }
}

// MARK: - Writing

extension Store.IO {
  /// Adds an object and returns it. Each run creates the object anew, inside the transaction: an operation may run on any thread
  /// and more than once, but an instance belongs to one store.
  public static func add<T: Model>(
    _ object: @autoclosure @escaping @Sendable () -> T, update: UpdatePolicy = .error
  ) -> StoreRW<T> {
    StoreRW { store in
      let object = object()
      try store.add(object, update: update)
      return object
    }
  }

  /// Adds objects, all or none, and returns them. Each run creates them anew, inside the transaction.
  public static func add<T: Model>(
    all objects: @autoclosure @escaping @Sendable () -> [T], update: UpdatePolicy = .error
  ) -> StoreRW<[T]> {
    StoreRW { store in
      let objects = objects()
      try store.add(objects, update: update)
      return objects
    }
  }

  /// Adds a copy of an existing object: its present scalars and collections of scalars, without links. The operation holds the
  /// values, not the instance, so it runs on any thread.
  public static func add<T: Model>(copyOf object: T, update: UpdatePolicy = .error) -> StoreRW<T> {
    let snapshot = object.snapshot()
    return add(snapshot.unmanagedCopy(), update: update)
  }

  /// Creates an object from values by name. Throws what `Store.create` throws.
  public static func create<T: Model>(
    _ type: T.Type, value: [String: (any Sendable)?], update: UpdatePolicy = .error
  ) -> StoreRW<T> {
    StoreRW { try $0.create(type, value: value.mapValues { $0 }, update: update) }
  }

  /// Creates an object of the type with this name. Throws what `Store.dynamicCreate` throws.
  public static func dynamicCreate(_ type: String, _ values: [String: Value] = [:]) -> StoreRW<DynamicObject> {
    StoreRW { try $0.dynamicCreate(type, values) }
  }

  /// Changes a managed object. The operation holds a reference, and `change` gets the instance of the store that runs it. Throws
  /// `.objectDeleted` if the object was deleted.
  public static func modify<T: Model>(
    _ object: T, _ change: @escaping @Sendable (T) throws -> Void
  ) -> StoreRW<T> {
    let reference = object.reference
    return StoreRW { store in
      let object = try store.existing(reference)
      try change(object)
      return object
    }
  }

  /// Deletes an object, whichever store it comes from. Throws `.objectDeleted` if it was deleted already.
  public static func delete<T: Model>(_ object: T) -> StoreRW<Void> {
    let reference = object.reference
    return StoreRW { store in try store.delete(try store.existing(reference)) }
  }

  /// Deletes the objects that a sequence contains when the operation is made. Skips objects that are deleted when it runs. Throws
  /// `.wrongStore` if another store runs it than that of the objects.
  public static func delete<S: Sequence>(_ objects: S) -> StoreRW<Void> where S.Element: Model {
    let references = objects.map(\.reference)
    return StoreRW { store in
      try store.delete(
        references.compactMap { reference throws(StoreError) -> S.Element? in
          do throws(StoreError) { return try store.object(reference) } catch {
            if error.code == .objectDeleted { return nil }
            throw error
          }
        })
    }
  }

  /// Empties the store: deletes all objects of its models.
  public static func deleteAll() -> StoreRW<Void> { StoreRW { try $0.deleteAll() } }
}

extension StoreIO where RW == ReadWrite, T: Model {
  /// For example `StoreRW<Dog>.create(value: ["name": "Rex"])`.
  public static func create(value: [String: (any Sendable)?], update: UpdatePolicy = .error) -> StoreRW<T> {
    Store.IO.create(T.self, value: value, update: update)
  }
}

extension Store {
  fileprivate func existing<T: Model>(_ reference: ObjectReference<T>) throws -> T {
    do throws(StoreError) { return try object(reference) } catch { if error.code != .objectDeleted { throw error } }
    throw StoreError(
      .objectDeleted, "The \(T._$name) object #\(reference.id.key.rawValue) of an operation is not in the store.",
      remedy: "Read it in the same operation, and compose with 'flatMap'.",
      details: ["type": T._$name, "key": "\(reference.id.key.rawValue)"])
  }
}
