import Vivarium

// A message that kills the process handling it also undoes the count of its own attempt. Therefore a handler records in the store
// that it runs, before it begins its first message. A handler that starts and finds the record of one that never ended is careful
// with the messages open then: it begins each in a separate write that counts the attempt, before the write that does the work.

extension Handling {
  private var sessionID: String { "\(name)/#running/\(owner)" }

  /// Records, once, that this handler runs, and checks whether another one disappeared without ending.
  func announce(_ store: Store) throws {
    guard !isAnnounced else { return }
    // Before the write: another handler of the process may see its record at once.
    LiveHandlers.insert(owner)
    carefulUpTo = try store.write {
      let prefix = "\(name)/#running/"
      // Handlers of this process that share the work are running. For handlers of other processes this is unknown.
      let others = store.objects(MessageReceipt.self).where { $0.message == "" }.filter {
        $0.id.hasPrefix(prefix) && !LiveHandlers.contains($0.owner)
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
