import StorageInterface

/// What became of the edits of an open write that cannot throw where they are made: setters, and edits of collections.
struct RefusedEdits {
  /// Why the first of them could not be made. The write cannot be committed any more: it would not be what was asked for.
  var fault: StoreError?
  /// The objects that an edit has added, while it may still be refused; nil outside of such an edit.
  var added: [AddedObject]?
}

extension Store {
  /// An edit that cannot throw could not be made. It had no effect; the open write throws the error when it is to be committed, or
  /// the savepoint round it when that ends. Without a write it is a mistake of the program.
  func refuse(_ error: StoreError) {
    guard writing != nil else { return misuse(error) }
    if writer.edits.fault == nil { writer.edits.fault = error }
  }

  /// Runs an edit that may add objects to the store on its way: when it throws, those are unmanaged again.
  func addingAll<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    let outer = writer.edits.added
    writer.edits.added = []
    do throws(StoreError) {
      let result = try body()
      writer.edits.added = outer.map { $0 + (writer.edits.added ?? []) }
      return result
    } catch {
      let added = writer.edits.added ?? []
      writer.edits.added = outer
      if let writing { takeBack(added, writing) }
      throw error
    }
  }
}

extension Model {
  /// Sets a property, or throws why that cannot be: `.uniqueViolation`, `.primaryKeyIsFixed`, `.primaryKeyExists` for a new object with
  /// the key of another, `.objectDeleted`, `.alreadyOwned`, `.wrongStore`, `.tooLarge`, `.notInWrite`. Then nothing changed, and the
  /// write goes on; refused by an assignment, the same would end the whole write.
  ///
  /// ```swift
  /// do { try user.set(\.email, to: entered) } catch StoreError.Code.uniqueViolation { show("That address is taken.") }
  /// ```
  public func set<V>(_ path: ReferenceWritableKeyPath<Self, V>, to value: V) throws(StoreError) {
    guard let store else {
      self[keyPath: path] = value
      return
    }
    _ = try store.openWrite(for: "Setting a property of a \(Self._$name)")
    try store.attempt { self[keyPath: path] = value }
  }
}

extension Store {
  /// Makes edits that cannot throw, and throws why one of them was refused; then all of them are undone.
  func attempt(_ edit: () -> Void) throws(StoreError) {
    guard let savepoint = try beginSavepoint() else { throw .notInWrite("Setting a property") }
    edit()
    try release(savepoint)
  }

  /// Edits of a collection that are made whole or not at all.
  func editWhole<R>(_ what: @autoclosure () -> String, _ body: () throws -> R) throws -> R {
    _ = try openWrite(for: what())
    return try savepoint(body)
  }
}

extension LiveList where Element: PersistableElement {
  /// Edits the list, or throws why one of the edits cannot be made; then the list and the store are as they were, and the write goes
  /// on. Refused outside of it, the same edit would end the whole write.
  ///
  /// ```swift
  /// try? post.tags.edit { try $0.append(contentsOf: tags) }
  /// ```
  @discardableResult
  public func edit<R>(_ body: (Self) throws -> R) throws -> R {
    guard case .store(let handle) = place else { return try body(self) }
    return try handle.store.editWhole("Changing a list") { try body(self) }
  }
}

extension LiveSet where Element: PersistableElement & Hashable {
  /// Edits the set, or throws why one of the edits cannot be made; see `LiveList.edit`.
  @discardableResult
  public func edit<R>(_ body: (Self) throws -> R) throws -> R {
    guard case .store(let handle) = place else { return try body(self) }
    return try handle.store.editWhole("Changing a set") { try body(self) }
  }
}

extension LiveMap where Value: PersistableElement {
  /// Edits the map, or throws why one of the edits cannot be made; see `LiveList.edit`.
  @discardableResult
  public func edit<R>(_ body: (Self) throws -> R) throws -> R {
    guard case .store(let handle) = place else { return try body(self) }
    return try handle.store.editWhole("Changing a map") { try body(self) }
  }
}
