/// The observers of edits of one unmanaged collection: they observe the unmanaged objects that have it as a property.
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

/// The storage of an unmanaged collection.
protocol EditedBox: AnyObject {
  /// The observers of its edits; nil until first requested.
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

/// A collection whose edits can be followed while it is unmanaged.
protocol HookedCollection {
  /// nil for a collection in a store.
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
