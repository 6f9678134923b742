import Vivarium

extension Store {
  /// Ready-made operations, to be composed: `Store.IO.objects(Dog.self).flatMap(Store.IO.delete)`.
  public enum IO {}
}

// MARK: - Reading

extension Store.IO {
  /// The store that runs the operation.
  public static func ask() -> StoreRO<Store> { .ask }

  /// Every object of a type, live in the store that runs it.
  public static func objects<T: Model>(_ type: T.Type) -> StoreRO<Results<T>> { StoreRO { $0.objects(type) } }

  /// The objects of a type by its name. `.unknownType`.
  public static func dynamicObjects(_ type: String) -> StoreRO<DynamicResults> {
    StoreRO { try $0.dynamicObjects(type) }
  }

  /// The object with a primary key; nil where there is none.
  public static func object<T: Model, Key: Scalar & Sendable>(
    ofType type: T.Type, forPrimaryKey key: Key
  ) -> StoreRO<T?> {
    StoreRO { $0.object(type, forPrimaryKey: key) }
  }

  /// The object a reference names; nil where it is gone.
  public static func object<T: Model>(_ reference: ObjectReference<T>) -> StoreRO<T?> { StoreRO { $0.resolve(reference) } }
}

extension Store.IO {
  /// A copy of an object that is in no store: its scalars and collections of scalars. `.objectDeleted` when it is gone.
  public static func unmanaged<T: Model>(_ object: T) -> StoreRO<T> {
    let reference = object.reference
    return StoreRO { try $0.existing(reference).snapshot().unmanagedCopy() }
  }
}

extension StoreIO where RW == ReadOnly {
  /// `StoreRO<Dog?>.object(forPrimaryKey: 7)`.
  public static func object<Object: Model, Key: Scalar & Sendable>(
    forPrimaryKey key: Key
  ) -> StoreRO<Object?> where T == Object? {
    Store.IO.object(ofType: Object.self, forPrimaryKey: key)
  }
}

// MARK: - Writing

extension Store.IO {
  /// Adds an object and gives it on. It is made at each run, inside the transaction: an operation is run on any
  /// thread and more than once, and an instance belongs to one store.
  public static func add<T: Model>(
    _ object: @autoclosure @escaping @Sendable () -> T, update: UpdatePolicy = .error
  ) -> StoreRW<T> {
    StoreRW { store in
      let object = object()
      try store.add(object, update: update)
      return object
    }
  }

  /// Adds objects and gives them on, all or none. They are made at each run, inside the transaction.
  public static func add<T: Model>(
    all objects: @autoclosure @escaping @Sendable () -> [T], update: UpdatePolicy = .error
  ) -> StoreRW<[T]> {
    StoreRW { store in
      let objects = objects()
      try store.add(objects, update: update)
      return objects
    }
  }

  /// Adds a copy of an object that is at hand: its scalars and collections of scalars as they are now, links left out. The
  /// values travel, the instance does not, so this runs on any thread.
  public static func add<T: Model>(copyOf object: T, update: UpdatePolicy = .error) -> StoreRW<T> {
    let snapshot = object.snapshot()
    return add(snapshot.unmanagedCopy(), update: update)
  }

  /// Makes an object from values by name. What `Store.create` throws.
  public static func create<T: Model>(
    _ type: T.Type, value: [String: (any Sendable)?], update: UpdatePolicy = .error
  ) -> StoreRW<T> {
    StoreRW { try $0.create(type, value: value.mapValues { $0 }, update: update) }
  }

  /// Makes an object of a type by its name. What `Store.dynamicCreate` throws.
  public static func dynamicCreate(_ type: String, _ values: [String: Value] = [:]) -> StoreRW<DynamicObject> {
    StoreRW { try $0.dynamicCreate(type, values) }
  }

  /// Changes an object that is in a store: it travels as a reference, and `change` gets the instance of the store that
  /// runs the operation. `.objectDeleted` when it is gone.
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

  /// Deletes an object, from whichever store it was taken. `.objectDeleted` when it is gone.
  public static func delete<T: Model>(_ object: T) -> StoreRW<Void> {
    let reference = object.reference
    return StoreRW { store in try store.delete(try store.existing(reference)) }
  }

  /// Deletes the objects of a sequence: those it holds when the operation is made. Objects that are gone when it runs
  /// are left out. `.wrongStore` when the store that runs it is not theirs.
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

  /// Empties the store: every object of its models.
  public static func deleteAll() -> StoreRW<Void> { StoreRW { try $0.deleteAll() } }
}

extension StoreIO where RW == ReadWrite, T: Model {
  /// `StoreRW<Dog>.create(value: ["name": "Rex"])`.
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
