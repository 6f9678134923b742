/// The rows that some commits touched, collected in O(1) each.
struct TouchedRows {
  /// A row and its changes.
  struct Row {
    let key: Int64
    var marks = RowMarks()
    var isInserted = false
    var isDeleted = false

    fileprivate mutating func formUnion(_ other: Row) {
      marks.formUnion(other.marks)
      isInserted = isInserted || other.isInserted
      isDeleted = isDeleted || other.isDeleted
    }
  }

  private var rows: [Row] = []
  /// No duplicates and in order so far, as for most single commits that modify objects of one type.
  private var isAscending = true

  var isEmpty: Bool { rows.isEmpty }

  mutating func insert(_ key: Int64) { add(Row(key: key, isInserted: true)) }
  mutating func delete(_ key: Int64) { add(Row(key: key, isDeleted: true)) }
  mutating func mark(_ key: Int64, _ marks: RowMarks) { add(Row(key: key, marks: marks)) }

  private mutating func add(_ row: Row) {
    if let last = rows.last, last.key >= row.key { isAscending = false }
    rows.append(row)
  }

  /// Each row once, by ascending key, with its changes merged. O(n log n); O(n) if they came in order.
  consuming func joined() -> [Row] {
    if isAscending { return rows }
    rows.sort { $0.key < $1.key }
    var last = 0
    for i in rows.indices.dropFirst() {
      if rows[i].key == rows[last].key {
        rows[last].formUnion(rows[i])
      } else {
        last += 1
        rows[last] = rows[i]
      }
    }
    rows.removeLast(rows.count - last - 1)
    return rows
  }
}
