import ChangeTracker
import Storage
import Values

/// Sets and maps of an object in a store are reached like its lists.
extension ListHandle {
  private var name: String { "\(context.schema.name).\(context.properties[ordinal].schema.name)" }

  /// An edit of a set or a map in a write; false where nothing changed. What is wrong is reported by policy.
  @discardableResult
  func change(_ body: (RecordedTransaction) throws(StorageError) -> Bool) -> Bool {
    guard let write = store.writing else {
      store.misuse(.notInWrite("Changing '\(name)'"))
      return false
    }
    do throws(StoreError) { try store.refuseInObserver("Changing '\(name)'") } catch {
      store.misuse(error)
      return false
    }
    do throws(StorageError) {
      if store.hasPropertyObservers { context.willSet(key, ordinal) }
      store.dropWindows()
      let changed = try body(write)
      if changed {
        store.didChange(context)
        context.noteRead(key, ordinal)
      }
      if store.hasPropertyObservers { context.didSet(key, ordinal) }
      return changed
    } catch {
      store.misuse(StoreError(error, type: context.schema.name, key: key))
      return false
    }
  }

  /// Reads something of the collection; nil when the object is gone or the reading fails.
  func read<R>(_ body: (any StorageReading) throws(StorageError) -> R) -> R? {
    do throws(StorageError) {
      return try contains(store.reading) ? try body(store.reading) : nil
    } catch {
      store.misuse(StoreError(error))
      return nil
    }
  }

  /// An element as it is stored, without adding anything: nil for an object that is in no store.
  func stored<T: PersistableElement>(_ element: T) -> Value? {
    if let model = element as? any Model, !model.isManaged { return nil }
    return try? element._$elementValue(store)
  }

  /// A value of a map as the element it is.
  func element<T: PersistableElement>(_ type: T.Type, at position: Int) -> T? {
    if position < 0 || position == .max { return nil }
    let found: [T] = elements(position..<position + 1)
    return found.first
  }

  /// All entries of a map, in the order of their keys.
  func entries<T: PersistableElement>(_ type: T.Type) -> [(key: String, value: T)] {
    var result: [(key: String, value: T)] = []
    _ = read { (reading) throws(StorageError) in
      try reading.elements(column, ObjectKey(key), 0..<Int.max) { batch in
        for row in 0..<batch.count {
          let key = String(decoding: batch.columns[1].bytes(at: row), as: UTF8.self)
          if let value = T._$element(batch.columns[0], row, store) { result.append((key, value)) }
        }
        return .proceed
      }
    }
    return result
  }
}
