/// Who wants to know of edits of one collection in memory: observers of the unmanaged objects whose property it is.
final class EditHooks {
  private struct Member { weak var observer: UnmanagedObserver? }

  private var members: [Member] = []

  func add(_ observer: UnmanagedObserver) {
    members.removeAll { $0.observer == nil || $0.observer === observer }
    members.append(Member(observer: observer))
  }

  func remove(_ observer: UnmanagedObserver) { members.removeAll { $0.observer == nil || $0.observer === observer } }

  func willEdit() { for member in members { member.observer?.willChange() } }
  func didEdit() { for member in members { member.observer?.check() } }
}

/// A collection that may be in memory, where its edits can be followed.
protocol HookedCollection {
  /// nil for one in a store.
  var hooks: EditHooks? { get }
}

extension LiveList: HookedCollection {
  var hooks: EditHooks? {
    guard case .memory(let box) = place else { return nil }
    if let hooks = box.hooks { return hooks }
    let made = EditHooks()
    box.hooks = made
    return made
  }
}

extension LiveSet: HookedCollection {
  var hooks: EditHooks? {
    guard case .memory(let box) = place else { return nil }
    if let hooks = box.hooks { return hooks }
    let made = EditHooks()
    box.hooks = made
    return made
  }
}

extension LiveMap: HookedCollection {
  var hooks: EditHooks? {
    guard case .memory(let box) = place else { return nil }
    if let hooks = box.hooks { return hooks }
    let made = EditHooks()
    box.hooks = made
    return made
  }
}
