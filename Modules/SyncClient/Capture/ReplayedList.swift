import StorageInterface

/// The elements of a list after the edits of a write, by what they were before it.
struct ReplayedList {
  /// One element: one that was there, by its place in the list before, or a new one.
  struct Slot {
    var before: Int?
    var isSet = false
    var isMoved = false
  }

  private(set) var slots: [Slot]
  /// Whether the list was emptied as a whole: what is there now all came after.
  private(set) var isCleared = false

  /// What each element holds may be another thing than before.
  mutating func setAll() { for index in slots.indices { slots[index].isSet = true } }

  /// - Parameter count: of elements before the edits.
  /// - Returns: nil for edits that a list of so many elements cannot have had.
  init?(count: Int, _ edits: [ListChange.Edit]) {
    slots = (0..<count).map { Slot(before: $0) }
    for edit in edits {
      switch edit {
      case .insert(let at, let count):
        guard at >= 0, at <= slots.count, count >= 0 else { return nil }
        slots.insert(contentsOf: Array(repeating: Slot(before: nil), count: count), at: at)
      case .remove(let range):
        guard range.lowerBound >= 0, range.upperBound <= slots.count else { return nil }
        slots.removeSubrange(range)
      case .set(let at):
        guard slots.indices.contains(at) else { return nil }
        slots[at].isSet = true
      case .move(let from, let to):
        guard slots.indices.contains(from), slots.indices.contains(to) else { return nil }
        var slot = slots.remove(at: from)
        slot.isMoved = true
        slots.insert(slot, at: to)
      case .clear:
        isCleared = true
        slots = []
      }
    }
  }

  /// Of a list of which is only known what it was and what it is: what is equal at the beginning and at the end is the same.
  init(from old: Int, to new: Int, isEqual: (_ old: Int, _ new: Int) -> Bool) {
    let shorter = min(old, new)
    let prefix = (0..<shorter).first { !isEqual($0, $0) } ?? shorter
    let suffix = (0..<shorter - prefix).first { !isEqual(old - 1 - $0, new - 1 - $0) } ?? shorter - prefix
    slots = (0..<prefix).map { Slot(before: $0) }
    slots += Array(repeating: Slot(before: nil), count: new - prefix - suffix)
    slots += (0..<suffix).map { Slot(before: old - suffix + $0) }
  }
}
