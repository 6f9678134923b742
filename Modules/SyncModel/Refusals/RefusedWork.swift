/// What refused changesets made. Later changesets of the same author that build on it cannot stand either: they are *void*.
///
/// A later change of the same property, for example, does not build on the refused one and stands. A change builds on it if it acts in an
/// incarnation, on an element or on an object that does not exist without it.
public struct RefusedWork: Hashable, Sendable {
  private var epochs: Set<Stamp> = []
  private var elements: Set<ElementID> = []
  private var created: Set<LinkTarget> = []

  /// Creates an empty collection: nothing was refused yet.
  public init() {}

  /// Whether no changeset can build on anything here. O(1).
  public var isEmpty: Bool { epochs.isEmpty && elements.isEmpty && created.isEmpty }

  /// Adds what a refused or void changeset made.
  public mutating func add(_ changeset: Changeset) {
    for (index, operation) in changeset.operations.enumerated() {
      if operation.makesEpoch { epochs.insert(changeset.stamp(of: index)) }
      if case .insert(let id, _, _) = operation.action { elements.insert(id) }
      if case .create = operation.action { created.insert(LinkTarget(operation.object, epoch: operation.epoch)) }
    }
  }

  /// Whether a changeset builds on refused work.
  public func isNeeded(by changeset: Changeset) -> Bool {
    if isEmpty { return false }
    return changeset.operations.contains(where: isNeeded)
  }

  private func isNeeded(by operation: Operation) -> Bool {
    if has(LinkTarget(operation.object, epoch: operation.epoch)) { return true }
    for step in operation.path {
      if epochs.contains(step.epoch) { return true }
      if case .element(let id) = step.place, elements.contains(id) { return true }
    }
    switch operation.action {
    case .setElement(let id, _, _), .move(let id, _, _), .erase(let id, _): if elements.contains(id) { return true }
    default: break
    }
    var isLinked = false
    operation.value?.forEachLink { isLinked = isLinked || has($0) }
    return isLinked
  }

  private func has(_ target: LinkTarget) -> Bool { epochs.contains(target.epoch) || created.contains(target) }
}
