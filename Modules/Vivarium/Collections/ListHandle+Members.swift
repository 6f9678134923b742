import ChangeTracker
import StorageInterface
import StoreValues

/// Access to the sets and maps of an object in a store, like that to its lists.
extension ListHandle {
  /// Edits a set or a map in a write; false if nothing changed. A rejected edit has no effect, and the write throws its
  /// error when it ends.
  @discardableResult
  func change(at place: SourcePlace?, _ body: (RecordedTransaction) throws(StorageError) -> Bool) -> Bool {
    attempt(at: place) { write throws(StoreError) in
      try change(write) { () throws(StorageError) in try body(write) }
    } ?? false
  }

  /// Edits with an element in stored form; adds an unmanaged object.
  @discardableResult
  func change<T: PersistableElement>(
    with element: T, at place: SourcePlace?, _ body: (Value, RecordedTransaction) throws(StorageError) -> Bool
  ) -> Bool {
    adding(CollectionOfOne(element), at: place) { (values, write) throws(StoreError) in
      try change(write) { () throws(StorageError) in try body(values[0], write) }
    } ?? false
  }

  /// Sets the value of a map's key. Of a struct, what the program does not know of it stays.
  func set<T: PersistableElement>(_ element: T, forKey name: String, at place: SourcePlace?) {
    guard let element = element as? any PersistableStruct else {
      change(with: element, at: place) { (value, write) throws(StorageError) in
        try write.set(value, forKey: name, in: column, ObjectKey(key))
      }
      return
    }
    attempt(at: place) { write throws(StoreError) in
      let value = try merged(element, forKey: name, write) ?? .null
      try change(write) { () throws(StorageError) in try write.set(value, forKey: name, in: column, ObjectKey(key)) }
    }
  }

  /// A struct's stored form over what is stored at a key; nil if it is none.
  private func merged(_ element: Any, forKey name: String, _ write: RecordedTransaction) throws(StoreError) -> Value? {
    guard let element = element as? any PersistableStruct else { return nil }
    let stored = try storing { () throws(StorageError) in
      try write.transaction.value(forKey: name, in: column, ObjectKey(key))
    }
    return try element.merged(into: stored ?? .null, at: self.name)
  }

  /// Several edits with elements in stored form, all or none; adds unmanaged objects, which are unmanaged again if one is rejected.
  /// - Parameter names: the keys of a map at which they will be.
  func changeWhole<T: PersistableElement>(
    with elements: [T], forKeys names: [String]? = nil, at place: SourcePlace? = nil,
    _ body: ([Value], RecordedTransaction) throws(StorageError) -> Bool
  ) {
    adding(elements, at: place) { (values, write) throws(StoreError) in
      var values = values
      if let names, T.self is any PersistableStruct.Type {
        for at in values.indices { values[at] = try merged(elements[at], forKey: names[at], write) ?? values[at] }
      }
      try change(write) { () throws(StorageError) in
        try write.wholly { () throws(StorageError) in try body(values, write) }
      }
    }
  }

  /// Reads from the collection; nil if the object is deleted or the read fails.
  func read<R>(_ body: (any StorageReading) throws(StorageError) -> R) -> R? {
    do throws(StorageError) {
      return try contains(store.reading) ? try body(store.reading) : nil
    } catch {
      store.misuse(StoreError(error))
      return nil
    }
  }

  /// An element in stored form, without adding anything: nil for an unmanaged object.
  func stored<T: PersistableElement>(_ element: T) -> Value? {
    if let model = element as? any Model, !model.isManaged { return nil }
    return try? element._$elementValue(store)
  }

  /// The element at a position.
  func element<T: PersistableElement>(_ type: T.Type, at position: Int) -> T? {
    if position < 0 || position == .max { return nil }
    let found: [T] = elements(position..<position + 1)
    return found.first
  }

  /// A walk over the elements of a list or a set.
  func walk<T: PersistableElement>() -> StoreWalk<T> {
    StoreWalk(
      store, count: count,
      missing: { position in
        isMissing(position)
        return T._$placeholder(store)
      }, { elements($0) })
  }

  /// A walk over the entries of a map.
  func walkEntries<T: PersistableElement>() -> StoreWalk<(key: String, value: T)> {
    StoreWalk(store, count: count, missing: nil) { entries(T.self, $0) }
  }

  /// The entries of a map, in key order.
  func entries<T: PersistableElement>(_ type: T.Type, _ range: Range<Int> = 0..<Int.max) -> [(key: String, value: T)] {
    var result: [(key: String, value: T)] = []
    _ = read { (reading) throws(StorageError) in
      try reading.elements(column, ObjectKey(key), range) { batch in
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
