import SyncModel

// What a transaction would leave behind the back of the rules, which look at what exists. No app can write it: what acts in something that
// others have deleted is behind that deletion, and leaves nothing.

extension UploadCase {
  /// The first object in which the transaction leaves something that does not exist afterwards: a value for whoever creates the object, or
  /// an object embedded in it, next; or the deletion of an object that never was, before which whatever is created is over.
  ///
  /// O(the objects' records and the operations); of a list with objects embedded in its elements' embedded objects, O(the list).
  var unmade: ObjectIdentity? { objects.first { isUnmade($0) } ?? operations.first { leavesUnmade($0) }?.object }

  private var operations: [Operation] { changesets.flatMap(\.operations) }

  private func isUnmade(_ object: ObjectIdentity) -> Bool {
    let (before, after) = (record(object, false) ?? ObjectRecord(), record(object, true) ?? ObjectRecord())
    if after.isAlive { return false }
    if !after.node.contents.isEmpty, after.node.contents != before.node.contents { return true }
    return !before.isAlive && before.node.guarding.epoch == .zero && after.node.guarding.epoch != .zero
  }

  /// Whether an operation leaves something in an embedded object that nobody has made.
  private func leavesUnmade(_ operation: Operation) -> Bool {
    let path = operation.path.map(\.place)
    return path.indices.contains { index in
      guard case .embedded = path[index], let after = node(operation.object, path[...index], isAfter: true) else { return false }
      if after.isMade || after.contents.isEmpty { return false }
      return node(operation.object, path[...index], isAfter: false)?.contents != after.contents
    }
  }

  /// The object embedded at a path; nil if nothing is known of it.
  private func node(_ object: ObjectIdentity, _ path: ArraySlice<PathStep.Place>, isAfter: Bool) -> Node? {
    var node = record(object, isAfter)?.node
    var map: EntryMap?
    for (index, place) in zip(path.indices, path) {
      switch place {
      case .embedded(let name): node = node?.contents.embedded[name]
      case .map(let name): map = node?.contents.maps[name]
      case .entry(let name): node = map?.entries[name]?.slot.node
      case .list, .set: break
      case .element(let id):
        let list = read(object, isAfter)?.lists.first { $0.path == Array(path[..<index]) }
        node = list?.elements.first { $0.id == id }?.slot.node
      }
    }
    return node
  }
}
