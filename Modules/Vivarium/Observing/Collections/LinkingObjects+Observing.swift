import Notifications

extension LinkingObjects {
  /// Runs `block` on the store's context with the objects that point to this one, and then with what changed, as results
  /// do. When this object is deleted, one last call deletes every row. The object must be in a store; else the block hears
  /// an error, `.objectDeleted` where it is gone already. Keep the token, and stop it in the end.
  public func observe(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<LinkingObjects<Element>>) -> Void
  ) -> NotificationToken {
    if let refused = results?.store.tokenElsewhere(fileID, line) { return refused }
    guard let results = observed else {
      block(.error(.unmanagedCollection))
      return .ended(fileID, line)
    }
    return results.observe(isolation: isolation, fileID: fileID, line: line) { block($0.asLinkingObjects()) }
  }

  /// The same, where only modifications of some properties of these objects count. `.unknownProperty` for what leads
  /// nowhere.
  public func observe(
    observingProperties names: [String], isolation: isolated (any Actor)? = #isolation,
    fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<LinkingObjects<Element>>) -> Void
  ) throws(StoreError) -> NotificationToken {
    try results?.store.checkContext("observe")
    guard let results = observed else {
      block(.error(.unmanagedCollection))
      return .ended(fileID, line)
    }
    return try results.observe(observingProperties: names, isolation: isolation, fileID: fileID, line: line) {
      block($0.asLinkingObjects())
    }
  }
}

extension LinkingObjects {
  /// The results that are observed: with the reason why they cannot be, where the object they point to is gone.
  var observed: Results<Element>? {
    guard let results, results.error == nil, let fault = results.state.targetFault else { return results }
    return Results(
      ResultsState(results.state.description, of: Element.self, in: results.store, fault: fault))
  }
}

extension ResultsState {
  /// Of objects that point to one: that it is gone.
  fileprivate var targetFault: StoreError? {
    guard case .sources(let target, let column) = source else { return nil }
    let catalog = store.reading.catalog
    guard let type = catalog[column]?.schema.target, let table = catalog[type]?.id else { return nil }
    do throws(StorageError) {
      return try store.reading.contains(table, target) ? nil : .objectDeleted(type: type, key: target.rawValue)
    } catch {
      return StoreError(error)
    }
  }
}

extension CollectionChange {
  func asLinkingObjects<T: Model>() -> CollectionChange<LinkingObjects<T>> where C == Results<T> {
    switch self {
    case .initial(let results): .initial(LinkingObjects(results.state))
    case .error(let error): .error(error)
    case .update(let results, let deletions, let insertions, let modifications):
      .update(
        LinkingObjects(results.state), deletions: deletions, insertions: insertions, modifications: modifications)
    }
  }
}
