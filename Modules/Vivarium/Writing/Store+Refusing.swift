import StorageInterface

/// The rejected edits of an open write among those that cannot throw: setters, and edits of collections.
struct RefusedEdits {
  /// The error of the first rejected edit. The write can no longer be committed, because it would be incomplete.
  var fault: StoreError?
  /// The objects that an edit has added, while it may still be rejected; nil outside of such an edit.
  var added: [AddedObject]?
}

extension Store {
  /// Records that an edit that cannot throw was rejected. It had no effect; committing the open write throws the error, or ending
  /// the enclosing savepoint does. Without a write it is misuse. The error names the line of the edit, or that of the write if it is
  /// unknown: no setter knows who called it.
  func refuse(_ error: StoreError, at place: SourcePlace? = nil) {
    guard writing != nil else { return misuse(place.map { error.adding("Edited", "edit", at: $0) } ?? error) }
    if writer.edits.fault != nil { return }
    writer.edits.fault = place.map { error.adding("Edited", "edit", at: $0) }
      ?? error.adding("Refused in the write that began", "write", at: writer.place)
  }

  /// Runs an edit that may add objects to the store: if it throws, those are unmanaged again.
  package func addingAll<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
    let outer = writer.edits.added
    writer.edits.added = []
    do throws(StoreError) {
      let result = try body()
      writer.edits.added = outer.map { $0 + (writer.edits.added ?? []) }
      return result
    } catch {
      let added = writer.edits.added ?? []
      writer.edits.added = outer
      if let writing { takeBack(added, writing, after: error) }
      throw error
    }
  }
}

extension StoreError {
  /// The error with a source line, in the message and under a name in the details.
  fileprivate func adding(_ what: String, _ name: String, at place: any CustomStringConvertible) -> StoreError {
    var error = self
    error.message += " \(what) at \(place)."
    error.details[name] = "\(place)"
    return error
  }
}

extension Model {
  /// Sets a property, or throws: `.uniqueViolation`, `.primaryKeyIsFixed`, `.primaryKeyExists` for a new object with the key of
  /// another, `.objectDeleted`, `.alreadyOwned`, `.wrongStore`, `.tooLarge`, `.notInWrite`. Then nothing has changed and the write
  /// continues; the same error in an assignment would fail the whole write.
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
  /// Performs edits that cannot throw. If one of them is rejected, undoes all of them and throws its error.
  func attempt(_ edit: () -> Void) throws(StoreError) {
    guard let savepoint = try beginSavepoint() else { throw .notInWrite("Setting a property") }
    edit()
    try release(savepoint)
  }

  /// Edits a collection as a whole or not at all.
  func editWhole<R>(_ what: @autoclosure () -> String, _ body: () throws -> R) throws -> R {
    _ = try openWrite(for: what())
    return try savepoint(body)
  }
}

extension LiveList where Element: PersistableElement {
  /// Edits the list; throws if one of the edits is rejected: then the list and the store are unchanged, and the write continues.
  /// Outside of `edit`, the same error would fail the whole write.
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
  /// Edits the set; throws if one of the edits is rejected; see `LiveList.edit`.
  @discardableResult
  public func edit<R>(_ body: (Self) throws -> R) throws -> R {
    guard case .store(let handle) = place else { return try body(self) }
    return try handle.store.editWhole("Changing a set") { try body(self) }
  }
}

extension LiveMap where Value: PersistableElement {
  /// Edits the map; throws if one of the edits is rejected; see `LiveList.edit`.
  @discardableResult
  public func edit<R>(_ body: (Self) throws -> R) throws -> R {
    guard case .store(let handle) = place else { return try body(self) }
    return try handle.store.editWhole("Changing a map") { try body(self) }
  }
}
