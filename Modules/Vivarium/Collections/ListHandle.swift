import ChangeTracker
import StorageInterface
import StoreValues

/// A list of an object in a store, identified by the object and the property.
struct ListHandle {
  let store: Store
  let context: ModelContext
  let key: Int64
  let ordinal: Int

  var column: ColumnID { context.properties[ordinal].column }

  /// Whether the object with the list exists.
  func contains(_ reading: any StorageReading) throws(StorageError) -> Bool {
    try reading.contains(context.table, ObjectKey(key))
  }

  /// The number of elements; 0 if the object is deleted.
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

  /// Exactly `count` elements: the standard library traps when a collection that it copies is longer or shorter than its count.
  func allElements<T: PersistableElement>() -> [T] {
    let count = count
    var all: [T] = elements(0..<count)
    if all.count < count {
      isMissing(all.count)
      all.append(contentsOf: (all.count..<count).map { _ in T._$placeholder(store) })
    }
    return all.count > count ? Array(all.prefix(count)) : all
  }

  /// Reports that there is no element at a position: outside the list a programming error, within it a corrupt file.
  func isMissing(_ position: Int) {
    let count = count
    guard position >= 0, position < count else { return store.misuse(.indexOutOfRange(position, count: count)) }
    store.misuse(
      StoreError(
        .corrupt, "'\(name)' counts \(count) elements and lacks number \(position).",
        remedy: "Restore the store from a copy, or copy what can still be read into a new one."))
  }

  /// Applies edits in a write, all or none. If they are rejected, none has an effect, and the write throws the
  /// error when it ends.
  /// - Parameter place: the line of the program that edits, if it is known.
  func edit(_ edits: ElementEdit..., at place: SourcePlace?) {
    attempt(at: place) { write throws(StoreError) in try apply(edits, write) }
  }

  /// The same with elements in stored form. Unmanaged objects are added; if the edit is rejected, they are unmanaged again.
  func edit<T: PersistableElement>(
    with elements: some Sequence<T>, over range: Range<Int>? = nil, at place: SourcePlace?, _ edits: ([Value]) -> [ElementEdit]
  ) {
    adding(elements, at: place) { (values, write) throws(StoreError) in
      try apply(edits(try merged(Array(elements), values, over: range, write)), write)
    }
  }

  /// Sets an element. Of a struct, what the program does not know of it stays.
  func set<T: PersistableElement>(_ element: T, at position: Int, _ place: SourcePlace?) {
    let range = position < 0 || position == .max ? nil : position..<position + 1
    edit(with: CollectionOfOne(element), over: range, at: place) { [.set(at: position, $0[0])] }
  }

  /// The stored form of elements that replace those of a range: of structs, merged with what is stored.
  private func merged<T: PersistableElement>(
    _ elements: [T], _ values: [Value], over range: Range<Int>?, _ write: RecordedTransaction
  ) throws(StoreError) -> [Value] {
    guard let range, !range.isEmpty, !values.isEmpty, let type = T.self as? any PersistableStruct.Type else { return values }
    let stored = try storing { () throws(StorageError) in try write.transaction.values(column, ObjectKey(key), range) }
    return try type.merged(elements, into: stored, at: name)
  }

  /// Runs `body` with elements in stored form, or rejects it as a whole.
  @discardableResult
  func adding<T: PersistableElement, R>(
    _ elements: some Sequence<T>, at place: SourcePlace?, _ body: ([Value], RecordedTransaction) throws(StoreError) -> R
  ) -> R? {
    attempt(at: place) { write throws(StoreError) in
      guard T.self is any Model.Type else { return try body(try stored(elements), write) }
      // Objects added to a collection of a deleted object must not remain without an owner.
      try context.check(key)
      return try store.addingAll { () throws(StoreError) in try body(try stored(elements), write) }
    }
  }

  private func stored<T: PersistableElement>(_ elements: some Sequence<T>) throws(StoreError) -> [Value] {
    var values: [Value] = []
    for element in elements { values.append(try element._$elementValue(store)) }
    return values
  }

  /// nil if it was rejected.
  func attempt<R>(at place: SourcePlace?, _ body: (RecordedTransaction) throws(StoreError) -> R) -> R? {
    do throws(StoreError) {
      guard let write = store.writing else { throw .notInWrite("Changing '\(name)'") }
      try store.refuseInObserver("Changing '\(name)'")
      return try body(write)
    } catch {
      store.refuse(error, at: place)
      return nil
    }
  }

  /// The property's name for messages.
  var name: String { context.place(ordinal) }

  private func apply(_ edits: [ElementEdit], _ write: RecordedTransaction) throws(StoreError) {
    try change(write) { () throws(StorageError) in
      // A single edit is atomic by itself.
      if edits.count == 1 { try write.edit(column, ObjectKey(key), edits[0]) } else {
        try write.wholly { () throws(StorageError) in for edit in edits { try write.edit(column, ObjectKey(key), edit) } }
      }
      return !edits.isEmpty
    }
  }

  /// Changes the collection and notifies observers; returns whether it changed.
  @discardableResult
  func change(_ write: RecordedTransaction, _ body: () throws(StorageError) -> Bool) throws(StoreError) -> Bool {
    do throws(StorageError) {
      if store.observing.hasProperties { context.willSet(key, ordinal) }
      store.dropWindows()
      let changed = try body()
      if changed {
        store.didChange(context)
        context.didChangeValue(key, ordinal)
      }
      if store.observing.hasProperties { context.didSet(key, ordinal) }
      return changed
    } catch {
      if store.observing.hasProperties { context.didSet(key, ordinal) }
      throw StoreError(error, type: context.schema.name, key: key)
    }
  }
}
