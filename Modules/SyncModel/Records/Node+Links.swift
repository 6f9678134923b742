extension Contents {
  /// Visits every link in the record. Links in list elements are not in the record.
  package func forEachLink(_ body: (LinkTarget) -> Void) {
    for entry in values { entry.value.value.forEachLink(body) }
    for entry in embedded { entry.value.contents.forEachLink(body) }
    for set in sets { for member in set.value.members { member.value.value.forEachLink(body) } }
    for map in maps { for entry in map.value.entries { entry.value.slot.forEachLink(body) } }
  }
}

extension Slot {
  /// Visits every link in the value and in the embedded object.
  package func forEachLink(_ body: (LinkTarget) -> Void) {
    value.forEachLink(body)
    node.contents.forEachLink(body)
  }
}

extension Changeset {
  /// Every object that the changeset acts on or links to: those that must be known to judge it.
  package var namedObjects: Set<ObjectIdentity> {
    var named: Set<ObjectIdentity> = []
    for operation in operations {
      named.insert(operation.object)
      operation.value?.forEachLink { named.insert($0.object) }
    }
    return named
  }
}
