/// A small dictionary sorted by key. It has one canonical form, so equal contents encode to equal bytes on every replica. Look-up is
/// O(log n); a new or removed key moves O(n) entries, at the end O(1).
public struct SortedTable<Key: Comparable & Hashable & Sendable, Value: Sendable>: Sendable {
  /// A key and its value.
  public struct Entry: Sendable {
    /// The key; entries are sorted by it, and no two entries share it.
    public let key: Key
    /// The value for the key.
    public var value: Value
  }

  private var entries: [Entry] = []

  /// An empty table.
  public init() {}

  /// The value for a key; nil if there is none. Setting nil removes the key.
  public subscript(key: Key) -> Value? {
    get {
      let (index, isThere) = place(of: key)
      return isThere ? entries[index].value : nil
    }
    set {
      let (index, isThere) = place(of: key)
      switch (newValue, isThere) {
      case (let value?, true): entries[index].value = value
      case (let value?, false): entries.insert(Entry(key: key, value: value), at: index)
      case (nil, true): entries.remove(at: index)
      case (nil, false): break
      }
    }
  }

  /// Appends an entry; its key must be greater than all others. O(1).
  mutating func append(_ key: Key, _ value: Value) { entries.append(Entry(key: key, value: value)) }

  /// Updates every value in place.
  public mutating func updateAll(_ body: (inout Value) -> Void) {
    for index in entries.indices { body(&entries[index].value) }
  }

  /// Keeps the entries for which the body, which may change the value, returns true.
  public mutating func keep(_ body: (Key, inout Value) -> Bool) {
    var count = 0
    for index in entries.indices {
      guard body(entries[index].key, &entries[index].value) else { continue }
      if count != index { entries[count] = entries[index] }
      count += 1
    }
    entries.removeSubrange(count...)
  }

  private func place(of key: Key) -> (Int, isThere: Bool) {
    guard let last = entries.last, !(last.key < key) else { return (entries.count, false) }
    var (low, high) = (0, entries.count - 1)
    while low < high {
      let middle = (low + high) / 2
      if entries[middle].key < key { low = middle + 1 } else { high = middle }
    }
    return (low, entries[low].key == key)
  }
}

extension SortedTable: RandomAccessCollection {
  public var startIndex: Int { 0 }
  public var endIndex: Int { entries.count }
  /// The entry at an index, from 0, in the order of keys. O(1). Traps if the index is out of bounds, as an array does.
  public subscript(index: Int) -> Entry { entries[index] }
}

extension SortedTable.Entry: Equatable where Value: Equatable {}
extension SortedTable.Entry: Hashable where Value: Hashable {}
extension SortedTable: Equatable where Value: Equatable {}
extension SortedTable: Hashable where Value: Hashable {}
