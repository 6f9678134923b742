import Vivarium

// A message that kills the process handling it also undoes the count of its own attempt. Therefore a handler records in the store
// that it runs, before it begins its first message. A handler that starts and finds the record of one that never ended is careful
// with the messages open then: it begins each in a separate write that counts the attempt, before the write that does the work.

extension Handling {
  private static func sessionPrefix(_ name: String) -> String { "\(name)/#running/" }

  private var sessionID: String { "\(Self.sessionPrefix(name))\(M._$name)/\(owner)" }

  /// Whether a record is of a handler of this name and type. A name may have handlers of several types, and each looks for its own.
  private func isSession(_ id: String) -> Bool {
    let prefix = Self.sessionPrefix(name)
    guard id.hasPrefix(prefix) else { return false }
    let rest = id.dropFirst(prefix.count)
    // Older programs record no type: such a record counts for the handler that finds it first.
    return rest.hasPrefix("\(M._$name)/") || rest.firstIndex(of: "/") == nil
  }

  /// Records, once, that this handler runs, and checks whether another one disappeared without ending.
  func announce(_ store: Store) throws {
    guard !isAnnounced else { return }
    // Before the write: another handler of the process may see its record at once.
    LiveHandlers.insert(owner)
    carefulUpTo = try store.write {
      // Handlers of this process that share the work are running. For handlers of other processes this is unknown.
      let others = store.objects(MessageReceipt.self).where { $0.message == "" }.filter {
        isSession($0.id) && !LiveHandlers.contains($0.owner)
      }
      let session = MessageReceipt(id: sessionID, message: "")
      session.state = .running
      session.owner = owner
      try store.delete(others)
      try store.add(session)
      if others.isEmpty { return 0 }
      // A message that another name has answered is not pending any more, and can kill as well.
      return max(pending(store).last?._$key ?? 0, owed(store).last?._$key ?? 0)
    }
    isAnnounced = true
  }

  /// Removes the record that this handler runs.
  func withdraw() {
    guard isAnnounced, let store, !store.isInWriteTransaction else { return }
    isAnnounced = false
    // Other handlers must consider it alive until its record is gone.
    defer { LiveHandlers.remove(owner) }
    do {
      try store.write {
        if let session = store.object(MessageReceipt.self, forPrimaryKey: sessionID) { try store.delete(session) }
      }
    } catch {
      // The next handler is then more careful than necessary.
      StoreLog.warning("The message handler '\(name)' could not say that it ends: \(error)")
    }
  }
}
