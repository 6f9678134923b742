/// Which changesets of a replica a server's state contains, determined by the stamps in it. For a file that was copied, or restored from
/// a backup, there is no other way to know what its double has uploaded.
///
/// A changeset that others overwrote, or a purge forgot, leaves no trace. But a server takes the changesets of a replica in order, so all
/// before the last one with a trace are in the state too, or were refused.
public struct KnownChanges: Sendable {
  private let replica: ReplicaID
  private var stamps: Set<Stamp> = []

  /// Collects a replica's stamps in the states of some objects.
  public init(of replica: ReplicaID, in states: some Sequence<ObjectState>) {
    self.init(of: replica)
    for state in states { note(state) }
  }

  /// Of a replica in no object yet: `note` adds them.
  public init(of replica: ReplicaID) { self.replica = replica }

  /// Adds the replica's stamps in the state of an object. O(the object).
  public mutating func note(_ state: ObjectState) { state.forEachStamp { if $0.replica == replica { stamps.insert($0) } } }

  /// Whether the changeset left a trace.
  public func contains(_ changeset: Changeset) -> Bool {
    changeset.operations.indices.contains { stamps.contains(changeset.stamp(of: $0)) }
  }

  /// The changesets after the last one that the state contains.
  ///
  /// - Parameter changesets: of the replica, in order.
  public func rest(of changesets: [Changeset]) -> ArraySlice<Changeset> {
    guard var known = changesets.lastIndex(where: contains) else { return changesets[...] }
    // A server takes a transaction as a whole, whichever part left the trace.
    while known < changesets.endIndex - 1, changesets[known].isContinued { known += 1 }
    return changesets[(known + 1)...]
  }
}

extension ObjectState {
  /// Visits the stamp of every operation that left a trace.
  func forEachStamp(_ body: (Stamp) -> Void) {
    record.node.forEachStamp(body)
    for list in lists {
      for element in list.elements {
        body(element.moved)
        element.slot.node.forEachStamp(body)
      }
    }
  }
}

extension Node {
  fileprivate func forEachStamp(_ body: (Stamp) -> Void) {
    body(guarding.epoch)
    for register in contents.values.map(\.value) {
      switch register.key {
      case .never: break
      case .byDefault(let stamp), .written(let stamp): body(stamp)
      }
      for increment in register.increments { body(increment.key) }
    }
    for node in contents.embedded.map(\.value) { node.forEachStamp(body) }
    for head in contents.lists.map(\.value) { body(head.guarding.epoch) }
    for set in contents.sets.map(\.value) {
      body(set.guarding.epoch)
      for member in set.members { body(member.value.stamp) }
    }
    for map in contents.maps.map(\.value) {
      body(map.guarding.epoch)
      for entry in map.entries { entry.value.slot.node.forEachStamp(body) }
    }
  }
}
