import StorageInterface

/// The elements of a list after the edits of a write, as indexes of the list before it.
struct ReplayedList {
  /// One element: the index of an element from before the write, or a new one.
  struct Slot {
    var before: Int?
    var isSet = false
    var isMoved = false
  }

  private(set) var slots: [Slot]
  /// Whether the list was cleared: every element was added after that.
  private(set) var isCleared = false

  /// Marks the value of every element as possibly changed.
  mutating func setAll() { for index in slots.indices { slots[index].isSet = true } }

  /// - Parameter count: the number of elements before the edits.
  /// - Returns: nil if the edits do not fit a list of that length.
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

  /// For a list without recorded edits: elements that are equal at the beginning and at the end count as the same.
  init(from old: Int, to new: Int, isEqual: (_ old: Int, _ new: Int) -> Bool) {
    let shorter = min(old, new)
    let prefix = (0..<shorter).first { !isEqual($0, $0) } ?? shorter
    let suffix = (0..<shorter - prefix).first { !isEqual(old - 1 - $0, new - 1 - $0) } ?? shorter - prefix
    slots = (0..<prefix).map { Slot(before: $0) }
    slots += Array(repeating: Slot(before: nil), count: new - prefix - suffix)
    slots += (0..<suffix).map { Slot(before: old - suffix + $0) }
  }
}
