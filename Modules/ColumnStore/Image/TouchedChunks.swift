import StorageInterface
import StoreValues

/// Chunks that commits may have written: those of the objects that a record names, and those its writer adds.
struct TouchedChunks: Sendable {
  /// The chunk numbers written in one table.
  struct Table: Sendable {
    let id: TableID
    /// Rows and all columns.
    var whole = KeyRuns()
    /// Single columns.
    var columns: [(property: PropertyID, numbers: KeyRuns)] = []
  }

  /// Any chunk may have changed, in its contents or in its interpretation.
  private(set) var isEverything = false
  private(set) var tables: [Table] = []

  /// The value for a commit about which nothing is known.
  static let everything = {
    var all = TouchedChunks()
    all.isEverything = true
    return all
  }()

  /// The number of runs.
  var runCount: Int {
    tables.reduce(0) { sum, table in table.columns.reduce(sum + table.whole.runs.count) { $0 + $1.numbers.runs.count } }
  }

  init() {}

  /// The chunks of the objects that a record names: whole for inserted and deleted objects, the set columns for others. The
  /// same for a record and its decoded copy: readers rely on what the writer found to be named. O(named runs, objects and their
  /// properties).
  init(of record: CommitRecord, rowsPerChunk: Int) {
    isEverything = record.changedCatalog
    for change in record.tables {
      var whole = ChunkRuns(rowsPerChunk)
      for run in change.inserted.runs + change.deleted.runs { whole.add(run) }
      var columns = ColumnRuns(rowsPerChunk)
      for object in change.modified { columns.add(object.key.rawValue, object.properties) }
      for list in change.lists { columns.add(list.owner.rawValue, list.property) }
      for collection in change.collections { columns.add(collection.owner.rawValue, collection.property) }
      insert(change.table, whole.numbers)
      for column in columns.all { insert(ColumnID(change.table, column.property), column.chunks.numbers) }
    }
  }

  /// Adds whole chunks.
  mutating func insert(_ table: TableID, _ numbers: [ClosedRange<Int64>]) {
    if numbers.isEmpty { return }
    let i = place(of: table)
    tables[i].whole = tables[i].whole.isEmpty ? KeyRuns(runs: numbers) : KeyRuns(runs: tables[i].whole.runs + numbers)
  }

  /// Adds chunks in which one column was written.
  mutating func insert(_ column: ColumnID, _ numbers: [ClosedRange<Int64>]) {
    if numbers.isEmpty { return }
    let i = place(of: column.table)
    if let j = tables[i].columns.firstIndex(where: { $0.property == column.property }) {
      tables[i].columns[j].numbers = KeyRuns(runs: tables[i].columns[j].numbers.runs + numbers)
    } else {
      tables[i].columns.append((column.property, KeyRuns(runs: numbers)))
    }
  }

  private mutating func place(of table: TableID) -> Int {
    if let i = tables.firstIndex(where: { $0.id == table }) { return i }
    tables.append(Table(id: table))
    return tables.count - 1
  }

  private func contains(_ table: TableID, _ number: Int64) -> Bool {
    tables.contains { $0.id == table && $0.whole.contains(number) }
  }

  private func contains(_ column: ColumnID, _ number: Int64) -> Bool {
    tables.contains { table in
      table.id == column.table
        && (table.whole.contains(number)
          || table.columns.contains { $0.property == column.property && $0.numbers.contains(number) })
    }
  }

  mutating func formUnion(_ other: TouchedChunks) {
    if other.isEverything { isEverything = true }
    for table in other.tables {
      insert(table.id, table.whole.runs)
      for column in table.columns { insert(ColumnID(table.id, column.property), column.numbers.runs) }
    }
  }

  /// The chunks that `others` does not contain, as whole chunks.
  func subtracting(_ others: TouchedChunks) -> TouchedChunks {
    var left = TouchedChunks()
    if others.isEverything { return left }
    for table in tables {
      var numbers = table.whole.runs.joined().filter { !others.contains(table.id, $0) }
      for column in table.columns {
        numbers += column.numbers.runs.joined().filter { !others.contains(ColumnID(table.id, column.property), $0) }
      }
      left.insert(table.id, KeyRuns(numbers).runs)
    }
    return left
  }

  /// The numbers of the chunks whose rows, or whose given column, may have changed.
  func runs(of table: TableID, _ property: PropertyID?) -> [ClosedRange<Int64>] {
    guard let table = tables.first(where: { $0.id == table }) else { return [] }
    guard let property, let column = table.columns.first(where: { $0.property == property }) else { return table.whole.runs }
    return table.whole.runs + column.numbers.runs
  }
}

/// The chunks of each column, from keys and the properties set on them.
private struct ColumnRuns {
  private(set) var all: [(property: PropertyID, chunks: ChunkRuns)] = []
  /// Most objects of a commit share the same few sets of properties.
  private var sets: [(properties: PropertySet, places: [Int])] = []
  private let rowsPerChunk: Int

  private static let setsMax = 32

  init(_ rowsPerChunk: Int) { self.rowsPerChunk = rowsPerChunk }

  mutating func add(_ key: Int64, _ properties: PropertySet) {
    if let known = sets.last(where: { $0.properties == properties }) {
      for i in known.places { all[i].chunks.add(key...key) }
      return
    }
    let places = properties.properties.map { place(of: $0) }
    if sets.count < ColumnRuns.setsMax { sets.append((properties, places)) }
    for i in places { all[i].chunks.add(key...key) }
  }

  mutating func add(_ key: Int64, _ property: PropertyID) { all[place(of: property)].chunks.add(key...key) }

  private mutating func place(of property: PropertyID) -> Int {
    if let i = all.lastIndex(where: { $0.property == property }) { return i }
    all.append((property, ChunkRuns(rowsPerChunk)))
    return all.count - 1
  }
}

/// Collects chunk numbers from keys, which usually come in order.
private struct ChunkRuns {
  private(set) var numbers: [ClosedRange<Int64>] = []
  private let rows: Int64
  /// The keys of the chunk that was added last.
  private var last: ClosedRange<Int64> = 0...0

  init(_ rowsPerChunk: Int) { rows = Int64(rowsPerChunk) }

  mutating func add(_ keys: ClosedRange<Int64>) {
    if last.contains(keys.lowerBound), keys.upperBound <= last.upperBound { return }
    let chunks = (keys.lowerBound &- 1) / rows...(keys.upperBound &- 1) / rows
    let (start, isTooFar) = chunks.upperBound.multipliedReportingOverflow(by: rows)
    last = isTooFar || start > .max - rows ? keys : start + 1...start + rows
    if let before = numbers.last, chunks.lowerBound == before.upperBound || chunks.lowerBound == before.upperBound + 1 {
      numbers[numbers.count - 1] = before.lowerBound...chunks.upperBound
    } else {
      numbers.append(chunks)
    }
  }
}
