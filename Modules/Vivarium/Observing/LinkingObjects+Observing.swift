import Notifications

extension LinkingObjects {
  /// Runs `block` on the store's context with the objects that point to this one, and then with what changed, as results
  /// do. When this object is deleted, one last call deletes every row. The object must be in a store; else the block hears
  /// an error. Keep the token, and stop it in the end.
  public func observe(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line,
    _ block: @escaping (CollectionChange<LinkingObjects<Element>>) -> Void
  ) -> NotificationToken {
    guard let results else {
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
    guard let results else {
      block(.error(.unmanagedCollection))
      return .ended(fileID, line)
    }
    return try results.observe(observingProperties: names, isolation: isolation, fileID: fileID, line: line) {
      block($0.asLinkingObjects())
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
