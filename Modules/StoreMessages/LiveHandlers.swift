import Synchronization

/// The handlers of this process that have said in a store that they run, and have not come to their end. What is said of one
/// that is not here comes from another process, or from one that died. Any thread.
enum LiveHandlers {
  private static let owners = Mutex<Set<String>>([])

  static func insert(_ owner: String) { owners.withLock { _ = $0.insert(owner) } }
  static func remove(_ owner: String) { owners.withLock { _ = $0.remove(owner) } }
  static func contains(_ owner: String) -> Bool { owners.withLock { $0.contains(owner) } }
}
