import QueryModel
import StorageInterface
import StoreValues

/// Reads and writes all there is of a store that may be damaged: each call may throw, and none may do more than the bytes are
/// worth.
public struct StoreTour {
  /// How many values were lent. A damaged number that is believed shows here before it shows anywhere else.
  public private(set) var lent = 0
  /// What was refused.
  public private(set) var errors: [StorageError] = []
  /// So many are read at most.
  private let most: Int

  public init(most: Int = 4_000_000) { self.most = most }

  /// Whether the store gave more than it can have.
  public var isEndless: Bool { lent >= most }

  private mutating func trying(_ body: (inout StoreTour) throws(StorageError) -> Void) {
    if isEndless { return }
    do throws(StorageError) { try body(&self) } catch { errors.append(error) }
  }

  mutating func note(_ error: StorageError) { errors.append(error) }

  private mutating func lend(_ count: Int) -> Step {
    lent += count
    return isEndless ? .stop : .proceed
  }

  // MARK: Reading

  public mutating func read(_ engine: any StorageEngine) {
    trying { tour throws(StorageError) in
      let read = try engine.beginRead()
      defer { read.end() }
      tour.read(read)
      if let engine = engine.powers.structure {
        tour.trying { _ throws(StorageError) in try engine.verifyStructure(read) { _ in } }
      }
      tour.trying { _ throws(StorageError) in _ = try engine.statistics() }
    }
  }

  /// Everything that one version has.
  public mutating func read(_ reading: any StorageReading) {
    for table in reading.catalog.tables.prefix(20) {
      trying { _ throws(StorageError) in _ = try reading.count(table.id) }
      var keys: [Int64] = []
      trying { tour throws(StorageError) in keys = try tour.scan(reading, table) }
      readWords(reading, table, keys)
      for column in table.columns.prefix(60) where !column.schema.isInverse { read(reading, table, column, keys) }
      for index in table.indexes.prefix(60) { read(reading, index, table) }
      for index in table.textIndexes.prefix(20) { read(reading, words: index) }
    }
    trying { tour throws(StorageError) in
      let version = reading.version.rawValue
      try reading.history(after: Version(version > 6 ? version - 6 : 0)) { record in
        tour.lend(1 + record.tables.count)
      }
    }
  }

  private mutating func scan(_ reading: any StorageReading, _ table: TableEntry) throws(StorageError) -> [Int64] {
    let scalars = table.columns.prefix(60).filter(\.schema.isScalar)
    var keys: [Int64] = []
    for part in [scalars.map(\.id), []] + scalars.map({ [$0.id] }) {
      keys = []
      var lent = lent
      var nulls = 0
      try reading.scan(table.id, part, from: ObjectKey(1), hints: []) { batch in
        lent += batch.count
        for row in 0..<batch.count where batch.isLive(at: row) {
          if keys.count < 500 { keys.append(batch.key(at: row).rawValue) }
          for (i, property) in part.enumerated() {
            guard let type = table[property]?.schema.valueType else { continue }
            if batch.columns[i].value(at: row, as: type).isNull { nulls += 1 }
          }
        }
        return lent >= most ? .stop : .proceed
      }
      self.lent = lent + nulls / 64
    }
    return keys
  }

  private mutating func readWords(_ reading: any StorageReading, _ table: TableEntry, _ keys: [Int64]) {
    guard let column = table.columns.first(where: { $0.schema.isScalar && $0.schema.valueType?.isWord == true }) else { return }
    trying { _ throws(StorageError) in _ = try reading.words(table.column(column.id), of: keys) }
  }

  private mutating func read(
    _ reading: any StorageReading, _ table: TableEntry, _ column: ColumnEntry, _ keys: [Int64]
  ) {
    let id = table.column(column.id)
    for key in keys.prefix(12) + keys.suffix(8) {
      let key = ObjectKey(key)
      guard column.schema.isCollection else {
        trying { _ throws(StorageError) in _ = try reading.value(id, key) }
        trying { _ throws(StorageError) in _ = try reading.powers.windows?.window(id, containing: key) }
        sources(reading, id, key)
        continue
      }
      var count = 0
      trying { _ throws(StorageError) in count = try reading.elementCount(id, key) }
      trying { tour throws(StorageError) in
        var lent = tour.lent
        let most = tour.most
        let type = column.schema.valueType ?? .int64
        try reading.elements(id, key, 0..<Int.max) { batch in
          lent += batch.count
          for row in 0..<Swift.min(batch.count, 100) { _ = batch.columns[0].value(at: row, as: type) }
          return lent >= most ? .stop : .proceed
        }
        tour.lent = lent
      }
      trying { _ throws(StorageError) in _ = try reading.values(id, key, Swift.max(0, count - 2)..<Swift.max(0, count)) }
      if column.schema.isMap {
        trying { _ throws(StorageError) in _ = try reading.value(forKey: "key 1", in: id, key) }
      } else if column.schema.isSet {
        trying { _ throws(StorageError) in _ = try reading.position(of: .string("tag 2"), in: id, key) }
      }
      sources(reading, id, key)
    }
  }

  private mutating func sources(_ reading: any StorageReading, _ id: ColumnID, _ key: ObjectKey) {
    guard let type = reading.catalog[id]?.schema.valueType, type.mayLink else { return }
    trying { tour throws(StorageError) in
      try reading.sources(of: ObjectLink(id.table, key), through: id) { keys in tour.lend(keys.count) }
    }
  }

  private mutating func read(_ reading: any StorageReading, _ index: IndexEntry, _ table: TableEntry) {
    for isDescending in [false, true] {
      trying { tour throws(StorageError) in
        try reading.keys(in: index.id, .all, descending: isDescending) { keys in tour.lend(keys.count) }
      }
    }
    trying { _ throws(StorageError) in _ = try reading.count(in: index.id, .all) }
    trying { _ throws(StorageError) in _ = try reading.count(in: index.id, IndexRange(equal: [.int(3)])) }
    trying { _ throws(StorageError) in _ = try reading.key(in: index.id, equal: [.int(9)]) }
    trying { _ throws(StorageError) in _ = try reading.key(in: index.id, equalTo: 12) }
    trying { _ throws(StorageError) in _ = try reading.key(in: index.id, equal: [.string("name 3")]) }
  }

  private mutating func read(_ reading: any StorageReading, words index: TextIndexEntry) {
    trying { tour throws(StorageError) in
      guard let texts = reading.powers.texts else { return }
      _ = try texts.count(of: [], isPrefix: true, in: index.id)
      try texts.keys(of: Array("few".utf8), isPrefix: true, in: index.id) { keys in tour.lend(keys.count) }
    }
  }
}
