import ColumnStore

/// An immutable B+tree of byte strings: an edit gives a new tree that shares all untouched nodes with the old one. A snapshot
/// is a reference to a root.
final class MemoryTree: Sendable {
  /// The most entries of a leaf, and the most children of a branch.
  static let fanout = 64

  /// Keys of the entries, or the lowest key below each child.
  let keys: [ValueBuffer]
  /// Leaves only.
  let values: [ValueBuffer]
  /// Branches only.
  let children: [MemoryTree]

  init(keys: [ValueBuffer], values: [ValueBuffer]) {
    self.keys = keys
    self.values = values
    children = []
  }

  init(children: [MemoryTree]) {
    keys = children.map { $0.keys[0] }
    values = []
    self.children = children
  }

  static let empty = MemoryTree(keys: [], values: [])

  var isLeaf: Bool { children.isEmpty }

  /// The first position whose key is above `key`.
  func upperBound(_ key: UnsafeRawBufferPointer) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      if compareBytes(keys[middle].bytes, key) <= 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The value of a key; nil if there is none. O(log n).
  func value(for key: UnsafeRawBufferPointer) -> ValueBuffer? {
    var node = self
    while !node.isLeaf { node = node.children[max(0, node.upperBound(key) - 1)] }
    let i = node.upperBound(key) - 1
    return i >= 0 && compareBytes(node.keys[i].bytes, key) == 0 ? node.values[i] : nil
  }
}

extension MemoryTree {
  /// Visits entries from the first key at or after `start`, ascending. False if `body` stopped.
  func ascend(
    from start: UnsafeRawBufferPointer, _ body: (ValueBuffer, ValueBuffer) -> Bool
  ) -> Bool {
    if isLeaf {
      var i = upperBound(start)
      if i > 0, compareBytes(keys[i - 1].bytes, start) == 0 { i -= 1 }
      while i < keys.count {
        if !body(keys[i], values[i]) { return false }
        i += 1
      }
      return true
    }
    for i in max(0, upperBound(start) - 1)..<children.count where !children[i].ascend(from: start, body) { return false }
    return true
  }

  /// Visits entries from the last key at or before `start`, descending.
  func descend(
    from start: UnsafeRawBufferPointer, _ body: (ValueBuffer, ValueBuffer) -> Bool
  ) -> Bool {
    var i = upperBound(start) - 1
    while i >= 0 {
      if isLeaf {
        if !body(keys[i], values[i]) { return false }
      } else if !children[i].descend(from: start, body) {
        return false
      }
      i -= 1
    }
    return true
  }
}
