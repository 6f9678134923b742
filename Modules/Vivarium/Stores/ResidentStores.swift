import Notifications
import Synchronization

/// Which stores of an open file live in which actor: a write that an actor awaited, and that ran in none of its stores, is to be seen by
/// all of them.
final class ResidentStores: Sendable {
  /// A store, and the actor in whose turns alone it is touched.
  private struct Resident: @unchecked Sendable {
    // Sound because the store is only asked for by code that runs on its actor: `refresh` is isolated to it, and compares first.
    weak let store: Store?
    let actor: WeakActor
  }

  private let residents = Mutex<[ObjectIdentifier: Resident]>([:])

  /// Nothing where it belongs to no actor.
  func add(_ store: Store) {
    guard case .actor(let actor) = store.home else { return }
    let resident = Resident(store: store, actor: actor)
    residents.withLock { $0[ObjectIdentifier(store)] = resident }
  }

  /// A store is about to be gone. Any thread.
  func remove(_ store: Store) {
    let known = residents.withLock { $0.removeValue(forKey: ObjectIdentifier(store)) }
    _ = known  // let go of outside of the lock
  }

  /// Brings the stores of an actor to the newest version; such as write are left where they are.
  func refresh(of isolation: isolated (any Actor)?) {
    guard let isolation else { return }
    for resident in residents.withLock({ Array($0.values) }) where resident.actor.actor === isolation {
      if let store = resident.store, store.writing == nil { store.refresh() }
    }
  }
}
