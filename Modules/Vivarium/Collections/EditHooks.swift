/// Who wants to know of edits of one collection in memory: observers of the unmanaged objects whose property it is.
final class EditHooks {
  private struct Member { weak var observer: (any PropertyWatcher)? }

  private var members: [Member] = []

  func add(_ observer: any PropertyWatcher) {
    members.removeAll { $0.observer == nil || $0.observer === observer }
    members.append(Member(observer: observer))
  }

  func remove(_ observer: any PropertyWatcher) { members.removeAll { $0.observer == nil || $0.observer === observer } }

  func willEdit() { for member in members { member.observer?.willChange() } }
  func didEdit() { for member in members { member.observer?.check() } }
}

/// The memory of a collection that is in no store.
protocol EditedBox: AnyObject {
  /// Who wants to know of its edits; nil while nobody ever did.
  var hooks: EditHooks? { get set }
}

extension EditedBox {
  fileprivate var madeHooks: EditHooks {
    if let hooks { return hooks }
    let made = EditHooks()
    hooks = made
    return made
  }
}

/// A collection that may be in memory, where its edits can be followed.
protocol HookedCollection {
  /// nil for one in a store.
  var hooks: EditHooks? { get }
}

extension LiveList: HookedCollection {
  var hooks: EditHooks? { if case .memory(let box) = place { box.madeHooks } else { nil } }
}

extension LiveSet: HookedCollection {
  var hooks: EditHooks? { if case .memory(let box) = place { box.madeHooks } else { nil } }
}

extension LiveMap: HookedCollection {
  var hooks: EditHooks? { if case .memory(let box) = place { box.madeHooks } else { nil } }
}
