import StorageInterface
import StoreValues

/// Everything that a version of a store says, to be held against what a damaged copy of it says.
struct Truth {
  /// One column of one object.
  struct Place: Hashable {
    var column: ColumnID
    var key: Int64
  }

  var version: Version
  var keys: [TableID: [Int64]] = [:]
  var values: [Place: [Value]] = [:]
  var orders: [IndexID: [Int64]] = [:]
  var sides: [[UInt8]] = []
  var catalog: Catalog

  init(_ engine: any StorageEngine) throws(StorageError) {
    let read = try engine.beginRead()
    defer { read.end() }
    (version, catalog) = (read.version, read.catalog)
    for table in catalog.tables {
      let keys = try Truth.keys(table, read)
      self.keys[table.id] = keys
      for column in table.columns where column.schema.isStored {
        let id = table.column(column.id)
        for key in keys { values[Place(column: id, key: key)] = try Truth.values(id, column.schema, key, read) }
      }
      for index in table.indexes { orders[index.id] = try Truth.order(index, read) }
    }
    sides = try Truth.sides(read)
  }

  static func keys(_ table: TableEntry, _ read: any ReadTransaction) throws(StorageError) -> [Int64] {
    var keys: [Int64] = []
    try read.scan(table.id, [], from: ObjectKey(1), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) { keys.append(batch.key(at: row).rawValue) }
      return keys.count < 1_000_000 ? .proceed : .stop
    }
    return keys
  }

  static func values(_ id: ColumnID, _ schema: PropertySchema, _ key: Int64, _ read: any ReadTransaction) throws(StorageError) -> [Value] {
    switch schema.kind {
    case .scalar: [try read.value(id, ObjectKey(key))]
    case .map: try read.entries(id, ObjectKey(key), 0..<Int.max).flatMap { [.string($0.key), $0.value] }
    default: try read.values(id, ObjectKey(key), 0..<Int.max)
    }
  }

  static func order(_ index: IndexEntry, _ read: any ReadTransaction) throws(StorageError) -> [Int64] {
    var keys: [Int64] = []
    try read.keys(in: index.id, .all, descending: false) { found in
      keys += found
      return keys.count < 1_000_000 ? .proceed : .stop
    }
    return keys
  }

  static func sides(_ read: any ReadTransaction) throws(StorageError) -> [[UInt8]] {
    var all: [[UInt8]] = []
    try read.powers.sides?.sides(from: [0], below: nil) { key, value in
      all.append(Array(key) + Array(value))
      return all.count < 100_000 ? .proceed : .stop
    }
    return all
  }
}

/// What was found of a damaged store.
struct Findings {
  /// The first thing that was said and is not so.
  private(set) var wrong: String?
  private(set) var refusals: [StorageError] = []
  private(set) var isOlder = false
  /// Whether anything that was read is not as it was, or was refused for damage.
  var hasMetDamage: Bool { wrong != nil || refusals.contains { $0.code == .corrupt } }
  /// The path of the store, which an error of damage names.
  let path: String

  init(_ path: String) { self.path = path }

  mutating func trying(_ body: (inout Findings) throws(StorageError) -> Void) {
    do throws(StorageError) { try body(&self) } catch {
      refusals.append(error)
      expect(error.code != .corrupt || error.message.contains(path), "an error that does not name the file: \(error)")
    }
  }

  mutating func expect(_ isRight: Bool, _ what: @autoclosure () -> String) { if !isRight, wrong == nil { wrong = what() } }

  /// Holds everything that can be read against the truth. `added`: objects that were written since.
  mutating func compare(_ engine: any StorageEngine, _ truth: Truth, added: [TableID: [Int64]] = [:], _ when: String) {
    trying { found throws(StorageError) in
      let read = try engine.beginRead()
      defer { read.end() }
      if read.version < truth.version {
        found.isOlder = true
        return
      }
      found.expect(read.catalog.tables.map(\.name) == truth.catalog.tables.map(\.name), "\(when): another catalog")
      for table in truth.catalog.tables { found.compare(table, read, truth, added, when) }
      found.trying { found throws(StorageError) in found.expect(try Truth.sides(read) == truth.sides, "\(when): side entries") }
    }
  }

  private mutating func compare(
    _ table: TableEntry, _ read: any ReadTransaction, _ truth: Truth, _ added: [TableID: [Int64]], _ when: String
  ) {
    let (keys, new) = (truth.keys[table.id] ?? [], added[table.id] ?? [])
    trying { found throws(StorageError) in
      found.expect(try Truth.keys(table, read) == keys + new, "\(when): the objects of \(table.name)")
    }
    trying { found throws(StorageError) in
      found.expect(try read.count(table.id) == keys.count + new.count, "\(when): the count of \(table.name)")
    }
    for column in table.columns where column.schema.isStored {
      let id = table.column(column.id)
      for key in keys {
        trying { found throws(StorageError) in
          let values = try Truth.values(id, column.schema, key, read)
          found.expect(values == truth.values[Truth.Place(column: id, key: key)], "\(when): \(table.name) #\(key).\(column.schema.name)")
        }
      }
    }
    for index in table.indexes {
      trying { found throws(StorageError) in
        let order = try Truth.order(index, read)
        found.expect(order.filter { !new.contains($0) } == truth.orders[index.id] ?? [], "\(when): index \(index.id.rawValue)")
      }
    }
  }
}
