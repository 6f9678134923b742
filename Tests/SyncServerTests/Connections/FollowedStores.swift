import ServerStoreForwarding
import SyncServer
import Synchronization

/// Stores that count who follows them.
final class FollowedStores: ServerStoreInFront {
  let base: any SyncServerStore = MemoryServerStore()
  let count = Atomic(0)

  func follow(_ path: StorePath) async { count.wrappingAdd(1, ordering: .relaxed) }

  func unfollow(_ path: StorePath) async { count.wrappingSubtract(1, ordering: .relaxed) }
}
