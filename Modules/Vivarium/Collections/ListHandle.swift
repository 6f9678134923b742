import ChangeTracker
import Storage
import Values

/// A list of an object in a store: whose, and which property.
struct ListHandle {
  let store: Store
  let context: ModelContext
  let key: Int64
  let ordinal: Int

  var column: ColumnID { context.properties[ordinal].column }

  /// Whether the object that has the list is there.
  func contains(_ reading: any StorageReading) throws(StorageError) -> Bool {
    try reading.contains(context.table, ObjectKey(key))
  }

  /// 0 when the object is gone.
  var count: Int {
    do throws(StorageError) {
      return try contains(store.reading) ? try store.reading.elementCount(column, ObjectKey(key)) : 0
    } catch {
      store.misuse(StoreError(error))
      return 0
    }
  }

  /// The words of all elements of a list of links.
  func words(_ reading: any StorageReading) throws(StorageError) -> [Int64] {
    var words: [Int64] = []
    try reading.elements(column, ObjectKey(key), 0..<Int.max) { batch in
      for row in 0..<batch.count { words.append(batch.columns[0].word(at: row)) }
      return .proceed
    }
    return words
  }

  func elements<T: PersistableElement>(_ range: Range<Int>) -> [T] {
    var elements: [T] = []
    do throws(StorageError) {
      guard try contains(store.reading) else { return [] }
      try store.reading.elements(column, ObjectKey(key), range) { batch in
        for row in 0..<batch.count {
          elements.append(T._$element(batch.columns[0], row, store) ?? T._$placeholder(store))
        }
        return .proceed
      }
    } catch {
      store.misuse(StoreError(error))
    }
    return elements
  }

  /// As many elements as it counts: who copies a collection ends the process where it turns out to be longer or shorter.
  func allElements<T: PersistableElement>() -> [T] {
    let count = count
    var all: [T] = elements(0..<count)
    if all.count < count {
      isMissing(all.count)
      all.append(contentsOf: (all.count..<count).map { _ in T._$placeholder(store) })
    }
    return all.count > count ? Array(all.prefix(count)) : all
  }

  /// Reports that there is no element at a position: a mistake outside of the list; within, the file's.
  func isMissing(_ position: Int) {
    let count = count
    guard position >= 0, position < count else { return store.misuse(.indexOutOfRange(position, count: count)) }
    store.misuse(
      StoreError(
        .corrupt, "'\(context.schema.name).\(context.properties[ordinal].schema.name)' counts \(count) elements and lacks number \(position).",
        remedy: "Restore the store from a copy, or copy what can still be read into a new one."))
  }

  /// An edit in a write. What is wrong is reported by policy.
  func edit(_ edit: ElementEdit) {
    guard let write = store.writing else {
      return store.misuse(.notInWrite("Changing '\(context.schema.name).\(context.properties[ordinal].schema.name)'"))
    }
    do throws(StoreError) { try store.refuseInObserver("Changing a list") } catch { return store.misuse(error) }
    do throws(StorageError) {
      if store.hasPropertyObservers { context.willSet(key, ordinal) }
      store.dropWindows()
      try write.edit(column, ObjectKey(key), edit)
      store.didChange(context)
      context.noteRead(key, ordinal)
      if store.hasPropertyObservers { context.didSet(key, ordinal) }
    } catch {
      store.misuse(StoreError(error, type: context.schema.name, key: key))
    }
  }

  /// Elements as the store keeps them, unmanaged objects added; nil when one cannot be, which is reported.
  func values<T: PersistableElement>(_ elements: some Sequence<T>) -> [Value]? {
    guard store.writing != nil else {
      store.misuse(.notInWrite("Changing '\(context.schema.name).\(context.properties[ordinal].schema.name)'"))
      return nil
    }
    do throws(StoreError) {
      // What a collection of an object that is gone was given must not stay as objects of nobody.
      if T.self is any Model.Type { try context.check(key) }
      var values: [Value] = []
      for element in elements { values.append(try element._$elementValue(store)) }
      return values
    } catch {
      store.misuse(error)
      return nil
    }
  }
}
