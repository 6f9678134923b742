import Synchronization

/// The handlers of this process that have recorded in a store that they run, and have not ended. A recorded handler that is not in
/// this set belongs to another process, or to one that died. Any thread.
enum LiveHandlers {
  private static let owners = Mutex<Set<String>>([])

  static func insert(_ owner: String) { owners.withLock { _ = $0.insert(owner) } }
  static func remove(_ owner: String) { owners.withLock { _ = $0.remove(owner) } }
  static func contains(_ owner: String) -> Bool { owners.withLock { $0.contains(owner) } }
}
