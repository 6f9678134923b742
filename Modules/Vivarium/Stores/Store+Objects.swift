import ChangeTracker
import StorageInterface
import StoreValues

extension Store {
  /// Whether the store has no object of any of its models. False, and logged, if that cannot be read. O(models).
  public var isEmpty: Bool {
    for model in configuration.models {
      guard let table = reading.catalog[model._$schema.name]?.id else { continue }
      if reported(try reading.count(table)) != 0 { return false }
    }
    return true
  }

  /// The object with a primary key; nil if there is none. O(log n).
  public func object<T: Model, Key: Scalar>(_ type: T.Type, forPrimaryKey key: Key) -> T? {
    let value = key.persistedValue
    let context = context(type)
    if case .int(let integer) = value { return found(find(integer, context)) }
    return found(find(context) { (reading, index) throws(StorageError) in try reading.key(in: index, equal: [value]) })
  }

  /// The object with an integer primary key; nil if there is none. O(log n); allocates only the object.
  @inlinable
  public func object<T: Model, Key: Scalar & FixedWidthInteger>(_ type: T.Type, forPrimaryKey key: Key) -> T? {
    // Integer scalars have at most 64 bits, signed.
    let context = context(type)
    let found = find(Int64(truncatingIfNeeded: key), context)
    return found == 0 ? nil : T(_$handle: ModelHandle(context.raw, found, self))
  }

  private func found<T: Model>(_ key: Int64) -> T? { key == 0 ? nil : live(key) }

  /// The key of the object with an integer primary key; 0, which no object has, if there is none.
  @usableFromInline func find(_ integer: Int64, _ context: ModelContext) -> Int64 {
    find(context) { (reading, index) throws(StorageError) in try reading.key(in: index, equalTo: integer) }
  }

  @inline(__always) private func find(
    _ context: ModelContext,
    _ look: (any StorageReading, IndexID) throws(StorageError) -> ObjectKey?
  ) -> Int64 {
    guard let index = context.primaryIndex else { return 0 }
    if tracksReads { context.didReadMembership() }
    do throws(StorageError) {
      return try look(reading, index)?.rawValue ?? 0
    } catch {
      misuse(StoreError(error))
      return 0
    }
  }

  /// The objects with these primary keys, in that order; skips keys without an object.
  public func objects<T: Model>(_ type: T.Type, forPrimaryKeys keys: some Sequence<some Scalar>) -> [T] {
    keys.compactMap { object(type, forPrimaryKey: $0) }
  }

  /// All objects of a type, in insertion order. Live; only a description until it is read.
  public func objects<T: Model>(_ type: T.Type, fileID: StaticString = #fileID, line: UInt = #line) -> Results<T> {
    Results(self, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Deletes an object and removes it from every link and list that points to it. Also deletes what only it owns by
  /// `@Relationship(deleteRule: .cascade)`.
  ///
  /// Throws `.notInWrite`, `.objectDeleted`, `.wrongStore`; `.deleteDenied` if a `.deny` relationship is not empty: then nothing is
  /// deleted.
  public func delete<T: Model>(_ object: T) throws(StoreError) {
    let write = try openWrite(for: "Deleting a \(T._$name)")
    guard let context = object.context, context.store.shared === shared else {
      throw .wrongStore("The \(T._$name) object")
    }
    let touched = try delete(context.table, object._$key, type: T._$name, write)
    didChangeEverything(touched)
  }

  /// Deletes every object of a sequence, including results, lists and inverses. Skips deleted objects. Throws `.wrongStore` if one
  /// is unmanaged or belongs to another store: then nothing is deleted.
  public func delete<S: Sequence>(_ objects: S) throws(StoreError) where S.Element: Model {
    let write = try openWrite(for: "Deleting \(S.Element._$name) objects")
    var keys: [Int64] = []
    for object in objects {
      guard let context = object.context, context.store.shared === shared else {
        throw .wrongStore("A \(S.Element._$name) object of those to be deleted")
      }
      keys.append(object._$key)
    }
    try deleteAll(keys, in: context(S.Element.self), write)
  }

  /// Deletes the present objects of the results without creating them. Throws `.wrongStore` for results of another store.
  public func delete<T: Model>(_ results: Results<T>) throws(StoreError) {
    let write = try openWrite(for: "Deleting \(T._$name) objects")
    guard results.store.shared === shared else { throw .wrongStore("The results of \(T._$name)") }
    if let error = results.error { throw error }
    try deleteAll(results.state.keys().array, in: context(T.self), write)
  }

  /// Deletes every object of the store's models, regardless of delete rules.
  public func deleteAll() throws(StoreError) {
    let write = try openWrite(for: "Deleting everything")
    for schema in configuration.schema.objects {
      guard let table = write.transaction.catalog[schema.name]?.id else { continue }
      let keys = try storing { () throws(StorageError) in try KeySnapshot(of: table, in: write.transaction).array }
      dropWindows()
      try storing { () throws(StorageError) in
        if try write.deleteAlone(table, all: keys) { return }
        for key in keys { try write.deleteAlone(table, ObjectKey(key)) }
      }
    }
    didChangeEverything()
  }

  private func deleteAll(
    _ keys: [Int64], in context: ModelContext, _ write: RecordedTransaction
  ) throws(StoreError) {
    if keys.isEmpty { return }
    defer { didChangeEverything() }
    // Lent memory is invalid after a call that changes it.
    dropWindows()
    do throws(StorageError) {
      if try write.deletePlainly(context.table, keys) { return }
    } catch {
      throw StoreError(error, in: write.transaction.catalog, type: context.schema.name)
    }
    // One that a rule denies undoes those before it.
    if write.mayDenyDeletes, keys.count > 1 {
      return try undoneOnFailure(write) { () throws(StoreError) in try deleteEach(keys, in: context, write) }
    }
    try deleteEach(keys, in: context, write)
  }

  private func deleteEach(_ keys: [Int64], in context: ModelContext, _ write: RecordedTransaction) throws(StoreError) {
    for key in keys {
      do throws(StoreError) {
        _ = try delete(context.table, key, type: context.schema.name, write, isAsked: false)
      } catch {
        if error.code != .objectDeleted { throw error }
      }
    }
  }

  /// Returns the touched objects if `isAsked` and properties are observed.
  private func delete(
    _ table: TableID, _ key: Int64, type: String, _ write: RecordedTransaction, isAsked: Bool = true
  ) throws(StoreError) -> Set<ObjectPlace>? {
    // Lent memory is invalid after a call that changes it.
    dropWindows()
    do throws(StorageError) {
      if isAsked, observing.hasProperties {
        return try write.touching { () throws(StorageError) in try write.delete(table, ObjectKey(key)) }
      }
      try write.delete(table, ObjectKey(key))
      return nil
    } catch {
      throw StoreError(error, type: type, key: key)
    }
  }
}
