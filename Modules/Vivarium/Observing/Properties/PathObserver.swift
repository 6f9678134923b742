import StorageInterface
import StoreValues

/// One observer of the value at the end of a path. Confined to the context of the objects on the way.
///
/// Registers with every property that the path reads, and reads the path again when one of them changes. That costs the length of
/// the path, whatever else is observed.
final class PathObserver {
  let end: ObserverEnd
  private let wantsPrior: Bool
  /// nil while the object at the start of the path does not exist.
  private let follow: () -> FollowedPath?
  private let notify: (PropertyObserver.Kind, [Int], _ isPrior: Bool) -> Void
  /// Informs the notifier that the object at the start of the path may be in a store now.
  private let settle: () -> Void
  /// Weak: a step is retained by the object it is registered with, and retains its observer.
  private var steps: [PathPlace.ID: WeakStep] = [:]
  private var known = ObservedValue.nothing
  /// Whether a prior call was made, so that a call after the change must follow.
  private var isAnnounced = false
  private var lastPass: UInt64?

  private struct WeakStep { weak var step: PathStepWatcher? }

  init<Root: Model, Property>(
    _ root: ObservedRoot<Root>, _ path: ObservedPath<Root>, _ notifier: PropertyNotifier<Root, Property>, _ end: ObserverEnd
  ) {
    self.end = end
    wantsPrior = notifier.wantsPrior
    follow = { root.object.map { path.follow($0) } }
    notify = { kind, indexes, isPrior in
      if let object = root.object { notifier.notify(object, kind, indexes, isPrior: isPrior) }
    }
    settle = { if let object = root.object { notifier.enter(object) } }
  }

  /// Reads the first value. False if the path reads nothing that can change, or a value that cannot be compared.
  func begin() -> Bool {
    look()
    return !steps.isEmpty && known != .nothing
  }

  private func look() {
    guard let found = follow() else { return }
    known = found.value
    stand(at: found)
  }

  func willChange() {
    guard wantsPrior, end.isActive else { return }
    isAnnounced = true
    notify(.setting, [], true)
  }

  /// Reads the path again and reports a difference.
  /// - Parameter pass: the number of the pass over all observers; each pass reads the path once.
  func check(pass: UInt64?) {
    guard end.isActive else { return }
    if let pass {
      if pass == lastPass { return }
      lastPass = pass
    }
    guard let found = follow() else { return }
    let old = known
    known = found.value
    let isSameWay = stand(at: found)
    let wasAnnounced = isAnnounced
    isAnnounced = false
    if old == known, !wasAnnounced { return }
    let (kind, indexes) = isSameWay ? known.change(from: old) : (.setting, [])
    notify(kind, indexes, false)
  }

  /// An object on the way was added to a store, which is not a change.
  func enter() {
    guard end.isActive else { return }
    look()
    settle()
  }

  /// Registers with exactly the properties that were read. Returns whether they are the same as before.
  @discardableResult
  private func stand(at found: FollowedPath) -> Bool {
    var next: [PathPlace.ID: WeakStep] = [:]
    var isSameWay = true
    var kept: [PathStepWatcher] = []
    for place in found.places where next[place.id] == nil {
      var step = steps.removeValue(forKey: place.id)?.step
      if step?.isActive != true {
        step = PathStepWatcher(self, place)
        isSameWay = false
      }
      if let step { kept.append(step) }
      next[place.id] = WeakStep(step: step)
    }
    for left in steps.values {
      isSameWay = false
      left.step?.leave()
    }
    steps = next
    kept.last?.follow(found.hooks)
    return isSameWay
  }
}
