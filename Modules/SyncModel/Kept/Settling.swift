// Objects of which nobody has changed anything since a purge: a file may leave out their records (`RecordWords.settled`).

extension Contents {
  /// A value that was written, or is there by default, since before everything that is still told apart.
  package mutating func setSettled(_ name: Name, _ value: CellValue, isDefault: Bool) {
    values[name] = Register(key: isDefault ? .byDefault(.zero) : .written(.zero), value: value)
  }

  /// A list of which nothing is remembered but its elements.
  package mutating func setList(_ name: Name) { lists[name] = ListHead() }
}

extension ObjectRecord {
  /// The values of an object that is there and of which nothing else is remembered; nil where something is.
  package var settledValues: SortedTable<Name, Register>? {
    guard node.isMade, node.guarding == EpochGuard(), beneath == EpochGuard() else { return nil }
    let contents = node.contents
    guard contents.embedded.isEmpty, contents.sets.isEmpty, contents.maps.isEmpty else { return nil }
    for list in contents.lists where list.value != ListHead() { return nil }
    for entry in contents.values {
      guard entry.value.increments.isEmpty, entry.value.isSettled else { return nil }
    }
    return contents.values
  }
}

extension Register {
  fileprivate var isSettled: Bool { key == .written(.zero) || key == .byDefault(.zero) }

  /// Whether it was written by intent.
  package var isWritten: Bool { if case .written = key { true } else { false } }
}
