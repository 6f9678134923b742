import StorageInterface
import StoreValues

/// One increment on its way into a write transaction.
///
/// First, links and collections that the increment has anew are emptied, and deleted objects are taken out: so nothing links to them, and
/// what was unique of theirs is free. Then come new values of objects that stay, new objects, and last what links to any of them.
struct IncrementRun {
  private static let bytesBetween = 4 << 20

  private let write: any WriteTransaction
  private let file: IncrementFile
  private let tables: [TableID: IncrementTable]
  private(set) var records: [CommitRecord] = []
  private var plan: IncrementPlan?
  private var phase = IncrementTag.head.phase
  private var entries: UInt64 = 1
  private var isComplete = false
  private var uniques: UniqueMoves
  /// The last new object of each table, and how many there were.
  private var rows: [TableID: (last: Int64, count: Int)] = [:]

  init(_ write: any WriteTransaction, _ file: IncrementFile) {
    (self.write, self.file) = (write, file)
    tables = Dictionary(write.catalog.tables.map { ($0.id, IncrementTable($0)) }) { first, _ in first }
    uniques = UniqueMoves(write)
  }

  /// Applies all of it. Throws before anything is committed.
  mutating func run(_ reading: (CopyProgress) throws(StorageError) -> Void) throws(StorageError) {
    var reported = 0
    while let block = try file.next() {
      defer { withExtendedLifetime(block) {} }
      var input = VarintReader(UnsafeRawBufferPointer(block.bytes))
      while !input.rest.isEmpty { try apply(&input) }
      guard file.offset - reported >= IncrementRun.bytesBetween else { continue }
      reported = file.offset
      try reading(CopyProgress(bytesWritten: reported, bytesExpected: file.size))
    }
    guard isComplete else { throw VarintReader.damaged }
    for (id, changes) in plan?.tables ?? [] where (rows[id]?.count ?? 0) != changes.inserted.count { throw VarintReader.damaged }
  }

  private mutating func apply(_ input: inout VarintReader) throws(StorageError) {
    let tag = try input.tag()
    guard !isComplete, tag != .head, tag.phase >= phase else { throw VarintReader.damaged }
    if tag.phase > phase { try enter(tag) }
    switch tag {
    case .head: throw VarintReader.damaged
    case .record: try addRecord(&input)
    case .scalar: try setScalar(&input)
    case .row: try addRow(&input)
    case .link: try setLink(&input)
    case .elements, .pairs: try addElements(&input, isMap: tag == .pairs)
    case .end:
      guard try input.next() == entries else { throw VarintReader.damaged }
      isComplete = true
    }
    entries += 1
  }

  // MARK: Phases

  private mutating func enter(_ tag: IncrementTag) throws(StorageError) {
    if phase <= IncrementTag.record.phase, tag.phase > IncrementTag.record.phase {
      let expected = file.head.to.rawValue - file.head.from.rawValue
      guard UInt64(records.count) == expected else { throw VarintReader.damaged }
      let plan = try IncrementPlan(records)
      try clear(plan)
      self.plan = plan
    }
    if phase <= IncrementTag.scalar.phase, tag.phase > IncrementTag.scalar.phase { try uniques.settle() }
    if phase <= IncrementTag.row.phase, tag.phase > IncrementTag.row.phase { try useUpKeys() }
    phase = tag.phase
  }

  /// Empties what is written anew, and deletes.
  private func clear(_ plan: IncrementPlan) throws(StorageError) {
    for (id, changes) in plan.tables {
      let table = try table(id)
      // Otherwise a damaged record could name more than anybody can go through.
      guard changes.deleted.count <= (try write.count(id)) else { throw VarintReader.damaged }
      for (key, properties) in changes.modified {
        for column in table.links where properties.contains(column.id) { try empty(table, column, ObjectKey(key)) }
        for column in table.collections where properties.contains(column.id) { try empty(table, column, ObjectKey(key)) }
      }
      for key in changes.deleted {
        for column in table.links { try empty(table, column, ObjectKey(key)) }
        for column in table.collections where column.schema.valueType?.mayLink == true { try empty(table, column, ObjectKey(key)) }
      }
    }
    for (id, changes) in plan.tables where !changes.deleted.isEmpty {
      let keys = Array(changes.deleted)
      guard try write.delete(id, all: keys).count == keys.count else { throw VarintReader.damaged }
    }
  }

  private func empty(_ table: IncrementTable, _ column: ColumnEntry, _ key: ObjectKey) throws(StorageError) {
    let place = table.entry.column(column.id)
    if column.schema.isCollection { return try write.edit(place, key, .clear) }
    if column.isWord { try write.set(place, key, word: nil) } else { try write.set(place, key, bytes: nil) }
  }

  /// Uses up the keys of objects that were inserted and deleted again, so that no later object gets one.
  private func useUpKeys() throws(StorageError) {
    for (id, changes) in plan?.tables ?? [] where changes.highest > 0 {
      guard changes.highest < Int64.max else { throw VarintReader.damaged }
      try write.reserveKeys(in: id, below: ObjectKey(changes.highest + 1))
    }
  }

  // MARK: Entries

  private mutating func addRecord(_ input: inout VarintReader) throws(StorageError) {
    let version = Version(file.head.from.rawValue &+ UInt64(records.count) &+ 1)
    guard version <= file.head.to, let bytes = try input.cell() else { throw VarintReader.damaged }
    let record = try CommitRecord(version: version, encoded: bytes)
    guard !record.changedCatalog else { throw VarintReader.damaged }
    records.append(record)
  }

  private mutating func setScalar(_ input: inout VarintReader) throws(StorageError) {
    let (table, column, key) = try takePlace(&input)
    guard column.schema.isScalar, column.schema.valueType?.mayLink == false else { throw VarintReader.damaged }
    let place = table.entry.column(column.id)
    if table.uniques.contains(column.id) {
      let value = try value(of: column, &input)
      try uniques.set(place, key, value)
    } else {
      try set(place, column, key, &input)
    }
  }

  private mutating func addRow(_ input: inout VarintReader) throws(StorageError) {
    let table = try table(TableID(try input.small()))
    let id = table.entry.id
    let key = try input.nextSigned()
    let before = rows[id] ?? (last: 0, count: 0)
    guard key > before.last, plan?[id].inserted.contains(key) == true else { throw VarintReader.damaged }
    table.row.reset()
    for (slot, column) in table.plain {
      if column.isWord {
        if let word = try input.word() { table.row.set(slot, word: word) } else if column.schema.mayBeNull { table.row.setNull(slot) }
      } else {
        if let bytes = try input.cell() { table.row.set(slot, bytes: bytes) } else if column.schema.mayBeNull { table.row.setNull(slot) }
      }
    }
    if key - 1 != before.last || before.count == 0 { try write.reserveKeys(in: id, below: ObjectKey(key)) }
    guard try write.insert(table.row).rawValue == key else { throw VarintReader.damaged }
    rows[id] = (last: key, count: before.count + 1)
  }

  private func setLink(_ input: inout VarintReader) throws(StorageError) {
    let (table, column, key) = try takePlace(&input)
    guard column.schema.isScalar, column.schema.valueType?.mayLink == true else { throw VarintReader.damaged }
    try set(table.entry.column(column.id), column, key, &input)
  }

  private func addElements(_ input: inout VarintReader, isMap: Bool) throws(StorageError) {
    let (table, column, key) = try takePlace(&input)
    guard column.schema.isCollection, column.schema.isMap == isMap else { throw VarintReader.damaged }
    let place = table.entry.column(column.id)
    let position = try input.next()
    let count = try input.count()
    guard try position == UInt64(write.elementCount(place, key)) else { throw VarintReader.damaged }
    var values: [Value] = []
    for _ in 0..<count {
      guard isMap else {
        values.append(try value(of: column, &input))
        continue
      }
      guard let name = try input.cell() else { throw VarintReader.damaged }
      let text = String(decoding: name, as: UTF8.self)
      guard try write.set(try value(of: column, &input), forKey: text, in: place, key) == .inserted else { throw VarintReader.damaged }
    }
    if column.schema.isSet {
      for value in values where try !write.insert(member: value, into: place, key) { throw VarintReader.damaged }
    } else if !values.isEmpty {
      try write.edit(place, key, .insert(at: Int(position), values))
    }
  }

  // MARK: Parts of entries

  private func table(_ id: TableID) throws(StorageError) -> IncrementTable {
    guard let table = tables[id] else { throw VarintReader.damaged }
    return table
  }

  private func takePlace(_ input: inout VarintReader) throws(StorageError) -> (IncrementTable, ColumnEntry, ObjectKey) {
    let table = try table(TableID(try input.small()))
    let id = PropertyID(try input.small())
    guard let column = table.entry[id] else { throw VarintReader.damaged }
    return (table, column, ObjectKey(try input.nextSigned()))
  }

  private func value(of column: ColumnEntry, _ input: inout VarintReader) throws(StorageError) -> Value {
    guard let type = column.schema.valueType else { throw VarintReader.damaged }
    let value: Value?
    if type.isWord {
      guard let word = try input.word() else { return .null }
      value = Value(word: word, type: type)
    } else {
      guard let bytes = try input.cell() else { return .null }
      value = Value(bytes: bytes, type: type)
    }
    guard let value else { throw VarintReader.damaged }
    return value
  }

  private func set(
    _ place: ColumnID, _ column: ColumnEntry, _ key: ObjectKey, _ input: inout VarintReader
  ) throws(StorageError) {
    if column.isWord { try write.set(place, key, word: try input.word()) } else { try write.set(place, key, bytes: try input.cell()) }
  }
}

/// A table with its columns sorted by how they are written, and a buffer for its rows.
final class IncrementTable {
  let entry: TableEntry
  let plain: [(slot: Int, column: ColumnEntry)]
  let links: [ColumnEntry]
  let collections: [ColumnEntry]
  let uniques: PropertySet
  /// Made with the first row.
  private(set) lazy var row = RowBuffer(entry)

  init(_ entry: TableEntry) {
    self.entry = entry
    plain = entry.plainColumns.compactMap { column in entry.slot(of: column.id).map { (slot: $0, column: column) } }
    links = entry.linkingColumns
    collections = entry.collectionColumns
    uniques = entry.uniqueProperties
  }
}
