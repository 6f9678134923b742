import Vivarium

// A message that kills the process that deals with it undoes its own attempt, so nothing would count it. A handler
// says in the store that it runs before it begins its first message. Whoever starts and finds that another did not come to
// its end is careful with the messages that wait then: each is begun in a write of its own, where the attempt is
// counted, before the write that does it.

extension Handling {
  private var sessionID: String { "\(name)/#running/\(owner)" }

  /// Says that this handler runs, once; and looks whether another left without a word.
  func announce(_ store: Store) throws {
    guard !isAnnounced else { return }
    // Before it is written: another handler of the process may see it at once.
    LiveHandlers.insert(owner)
    carefulUpTo = try store.write {
      let prefix = "\(name)/#running/"
      // Handlers of this process that share the work have not left. Of another process it is not known.
      let others = store.objects(MessageReceipt.self).where { $0.message == "" }.filter {
        $0.id.hasPrefix(prefix) && !LiveHandlers.contains($0.owner)
      }
      let session = MessageReceipt(id: sessionID, message: "")
      session.state = .running
      session.owner = owner
      try store.delete(others)
      try store.add(session)
      return others.isEmpty ? 0 : pending(store).last?._$key ?? 0
    }
    isAnnounced = true
  }

  /// This handler has come to its end.
  func withdraw() {
    guard isAnnounced, let store, !store.isInWriteTransaction else { return }
    isAnnounced = false
    // It lives for the others until what it said is gone.
    defer { LiveHandlers.remove(owner) }
    do {
      try store.write {
        if let session = store.object(MessageReceipt.self, forPrimaryKey: sessionID) { try store.delete(session) }
      }
    } catch {
      // Then the next handler is more careful than it need be.
      StoreLog.warning("The message handler '\(name)' could not say that it ends: \(error)")
    }
  }
}
