import ChangeTracker
import StorageInterface
import StoreValues

extension Store {
  /// Whether there is no object of any of the store's models. O(models).
  public var isEmpty: Bool {
    let reading = reading
    return configuration.models.allSatisfy { model in
      guard let table = reading.catalog[model._$schema.name]?.id else { return true }
      return (try? reading.count(table)) == 0
    }
  }

  /// The object with a primary key; nil when there is none. O(log n).
  public func object<T: Model, Key: Scalar>(_ type: T.Type, forPrimaryKey key: Key) -> T? {
    let value = key.persistedValue
    let context = context(type)
    if case .int(let integer) = value { return found(find(integer, context)) }
    return found(find(context) { (reading, index) throws(StorageError) in try reading.key(in: index, equal: [value]) })
  }

  /// The object with an integer primary key; nil when there is none. O(log n), no allocation but the object.
  @inlinable
  public func object<T: Model, Key: Scalar & FixedWidthInteger>(_ type: T.Type, forPrimaryKey key: Key) -> T? {
    // Scalars have at most 64 bits, signed.
    let context = context(type)
    let found = find(Int64(truncatingIfNeeded: key), context)
    return found == 0 ? nil : T(_$handle: ModelHandle(context.raw, found, self))
  }

  private func found<T: Model>(_ key: Int64) -> T? { key == 0 ? nil : live(key) }

  /// The key of the object with an integer primary key; 0, which no object has, when there is none.
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

  /// The objects with these primary keys, in that order; keys without an object are left out.
  public func objects<T: Model>(_ type: T.Type, forPrimaryKeys keys: some Sequence<some Scalar>) -> [T] {
    keys.compactMap { object(type, forPrimaryKey: $0) }
  }

  /// Every object of a type, in the order of insertion. Live, and a description until it is read.
  public func objects<T: Model>(_ type: T.Type, fileID: StaticString = #fileID, line: UInt = #line) -> Results<T> {
    Results(self, at: SourcePlace(fileID: fileID, line: line))
  }

  /// Takes an object out of the store and out of every link and list that points to it, and with it what it alone owns
  /// by `@Relationship(deleteRule: .cascade)`.
  ///
  /// `.notInWrite`, `.objectDeleted`, `.wrongStore`; `.deleteDenied` when a `.deny` relationship is not empty, and then
  /// nothing was deleted.
  public func delete<T: Model>(_ object: T) throws(StoreError) {
    let write = try openWrite(for: "Deleting a \(T._$name)")
    guard let context = object.context, context.store.shared === shared else {
      throw .wrongStore("The \(T._$name) object")
    }
    let touched = try delete(context.table, object._$key, type: T._$name, write)
    didChangeEverything(touched)
  }

  /// Deletes every object of a sequence; results, lists and inverses included. Objects that are gone already are
  /// left out. `.wrongStore` when one is of another store or of none, and then nothing was deleted.
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

  /// Deletes what the results are now, without making an object of each. `.wrongStore` for results of another store.
  public func delete<T: Model>(_ results: Results<T>) throws(StoreError) {
    let write = try openWrite(for: "Deleting \(T._$name) objects")
    guard results.store.shared === shared else { throw .wrongStore("The results of \(T._$name)") }
    if let error = results.error { throw error }
    try deleteAll(results.state.keys().array, in: context(T.self), write)
  }

  /// Empties the store: every object of its models, whatever delete rules say.
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
    // What is lent ends with the call that changes it.
    dropWindows()
    do throws(StorageError) {
      if try write.deletePlainly(context.table, keys) { return }
    } catch {
      throw StoreError(error, in: write.transaction.catalog, type: context.schema.name)
    }
    for key in keys {
      do throws(StoreError) {
        _ = try delete(context.table, key, type: context.schema.name, write, isAsked: false)
      } catch {
        if error.code != .objectDeleted { throw error }
      }
    }
  }

  /// Returns the objects that were touched, if somebody observes properties and it `isAsked`.
  private func delete(
    _ table: TableID, _ key: Int64, type: String, _ write: RecordedTransaction, isAsked: Bool = true
  ) throws(StoreError) -> Set<ObjectPlace>? {
    // What is lent ends with the call that changes it.
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
