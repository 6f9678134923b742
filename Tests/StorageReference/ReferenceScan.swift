import StorageInterface
import StoreValues

/// One scan: cuts a table into batches of changing sizes, dense with holes or sparse with keys, and where the
/// layout says so does what hints allow.
struct ReferenceScan {
  private let content: ReferenceTable
  private let columns: [(ColumnEntry, ValueType)]
  private let hints: [ZoneHint]
  private var layout: any BatchLayout

  init(_ content: ReferenceTable, _ columns: [(ColumnEntry, ValueType)], _ hints: [ZoneHint], _ layout: any BatchLayout) {
    self.content = content
    self.columns = columns
    self.hints = hints
    self.layout = layout
  }

  mutating func run(from start: Int64, _ body: (borrowing ColumnBatch) -> Step) {
    var keys = content.keys[content.keys.firstPosition { $0 >= start }...]
    while !keys.isEmpty {
      let run = keys.prefix(layout.batchSize())
      keys = keys.dropFirst(run.count)
      if !hints.isEmpty, layout.takes(oneIn: 2), !run.contains(where: passes) { continue }
      if deliver(Array(run), body) == .stop { return }
    }
  }

  private mutating func deliver(_ run: [Int64], _ body: (borrowing ColumnBatch) -> Step) -> Step {
    guard let first = run.first, let last = run.last else { return .proceed }
    let span = last - first + 1
    let isDense = span <= 4096 && (span == run.count || !layout.takes(oneIn: 3))
    let rows = isDense ? Array(first...last) : run
    var live = rows.map { content.rows[$0] != nil }
    // A row that cannot pass may be given as a hole.
    if !hints.isEmpty, layout.takes(oneIn: 2) {
      for (position, key) in rows.enumerated() where live[position] { live[position] = passes(key) }
    }
    let values = columns.map { column, type in
      (type, rows.map { key in content.rows[key].map { $0.scalars[column.id] ?? column.absentValue } ?? .null })
    }
    return layout.lend(
      firstKey: first, keys: isDense && !(span == run.count && layout.takes(oneIn: 4)) ? nil : rows,
      live: live.allSatisfy { $0 } && !layout.takes(oneIn: 4) ? nil : live, count: rows.count, columns: values, body)
  }

  /// Whether every hint says that the row is of interest.
  private func passes(_ key: Int64) -> Bool {
    hints.allSatisfy { hint in
      guard case .ordinals(let from, let to) = hint.interest, columns.indices.contains(hint.column) else { return true }
      let (column, type) = columns[hint.column]
      guard type.isWord else { return true }
      let value = content.rows[key]?.scalars[column.id] ?? column.absentValue
      guard let ordinal = value.ordinal(type) else { return false }
      return from <= ordinal && ordinal <= to
    }
  }
}

extension Value {
  /// The ordinal that hints and bounds compare; nil for null and NaN, which have none, and for bytes.
  public func ordinal(_ type: ValueType) -> Int64? {
    guard let word else { return nil }
    if type.physical == .integer { return word }
    let double =
      type == .float
      ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: word))) : Double(bitPattern: UInt64(bitPattern: word))
    return double.isNaN ? nil : ZoneHint.ordinal(of: double)
  }
}
