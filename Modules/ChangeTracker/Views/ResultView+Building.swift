import StorageInterface
import StoreValues

extension ResultView {
  /// A view of the rows with these keys, in any order. Keys that are in the order of the view already, as the answer of the
  /// query is, cost O(n) and no sorting.
  static func build(
    _ question: any ViewQuestion, _ keys: [Int64], in reading: any StorageReading
  ) throws(StorageError) -> ResultView {
    if question.ordering == .byObjectKey {
      let isAscending = zip(keys, keys.dropFirst()).allSatisfy { $0 < $1 }
      return .byKey(isAscending ? keys : keys.sorted())
    }
    var entries: [ViewEntry] = []
    entries.reserveCapacity(keys.count)
    var (isInOrder, last): (Bool, OrderedRow?) = (true, nil)
    for start in stride(from: 0, to: keys.count, by: 1_024) {
      let part = Array(keys[start..<min(start + 1_024, keys.count)])
      for row in try question.places(of: part, in: reading) {
        if isInOrder, let last, !(last < row) { isInOrder = false }
        if isInOrder { last = row }
        entries.append(row.entry)
      }
    }
    if !isInOrder {
      entries.sort()
      if question.ordering == .byFullKey { try sortTies(&entries, question, in: reading) }
    }
    return .sorted(entries, isWide: question.ordering.isWide)
  }

  /// Orders runs of equal prefixes by full sort key.
  private static func sortTies(
    _ entries: inout [ViewEntry], _ question: any ViewQuestion, in reading: any StorageReading
  ) throws(StorageError) {
    var start = 0
    while start < entries.count {
      var end = start + 1
      while end < entries.count, entries[end].hasPrefixes(of: entries[start]) { end += 1 }
      if end - start > 1 {
        var rows: [OrderedRow] = []
        for entry in entries[start..<end] {
          rows.append(OrderedRow(entry, sortKey: try question.sortKey(ObjectKey(entry.key), in: reading)))
        }
        rows.sort()
        for (i, row) in rows.enumerated() { entries[start + i] = row.entry }
      }
      start = end
    }
  }
}
