// Objects that nobody has changed since a purge: a file may omit their records (`RecordWords.settled`).

extension Contents {
  /// Sets a written or default value whose stamp has been forgotten.
  package mutating func setSettled(_ name: Name, _ value: CellValue, isDefault: Bool) {
    values[name] = Register(key: isDefault ? .byDefault(.zero) : .written(.zero), value: value)
  }

  /// Adds a list with nothing to remember but its elements.
  package mutating func setList(_ name: Name) { lists[name] = ListHead() }
}

extension ObjectRecord {
  /// The values of a live object if nothing else about it is remembered; otherwise nil.
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

  /// Whether somebody set the value, as opposed to a default.
  package var isWritten: Bool { if case .written = key { true } else { false } }
}
