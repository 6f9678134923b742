import Notifications
import Synchronization

/// The stores of an open file by actor. When an actor awaited a write that ran in none of its stores, all of them must then see the
/// result.
final class ResidentStores: Sendable {
  /// A store, and the actor that alone uses it.
  private struct Resident: @unchecked Sendable {
    // Sound because only code on the store's actor accesses it: `refresh` is isolated to that actor, and compares it first.
    weak let store: Store?
    let actor: WeakActor
  }

  private let residents = Mutex<[ObjectIdentifier: Resident]>([:])

  /// Does nothing if the store does not belong to an actor.
  func add(_ store: Store) {
    guard case .actor(let actor) = store.home else { return }
    let resident = Resident(store: store, actor: actor)
    residents.withLock { $0[ObjectIdentifier(store)] = resident }
  }

  /// Removes a store that is being deinitialized. Any thread.
  func remove(_ store: Store) {
    let known = residents.withLock { $0.removeValue(forKey: ObjectIdentifier(store)) }
    _ = known  // released outside the lock
  }

  /// Refreshes the stores of an actor to the newest version, except those with an open write.
  func refresh(of isolation: isolated (any Actor)?) {
    guard let isolation else { return }
    for resident in residents.withLock({ Array($0.values) }) where resident.actor.actor === isolation {
      if let store = resident.store, store.writing == nil { store.refresh() }
    }
  }
}
