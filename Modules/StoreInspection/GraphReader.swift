import StorageInterface
import StoreValues

/// Walks every object of a version with all its values, in an order that is the same on every backend.
struct GraphReader {
  private let read: any ReadTransaction

  init(_ read: any ReadTransaction) { self.read = read }

  /// The tables in ascending order of their ids.
  var tables: [TableEntry] { read.catalog.tables.sorted { $0.id < $1.id } }

  func keys(of table: TableID) throws(StorageError) -> [Int64] {
    var keys: [Int64] = []
    try read.scan(table, [], from: ObjectKey(1), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) { keys.append(batch.key(at: row).rawValue) }
      return .proceed
    }
    return keys
  }

  /// An object as JSON on one line: its key, and its stored properties by name.
  func line(_ table: TableEntry, _ key: Int64) throws(StorageError) -> [UInt8] {
    var bytes = Array("{\"\(GraphText.id)\":\(key)".utf8)
    for column in table.columns where column.schema.isStored && !column.isRetired {
      bytes.append(UInt8(ascii: ","))
      JSONText.append(column.schema.name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      try node(table.column(column.id), column.schema, ObjectKey(key)).append(to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
    return bytes
  }

  private func node(_ column: ColumnID, _ schema: PropertySchema, _ key: ObjectKey) throws(StorageError) -> JSONNode {
    func node(_ value: Value, _ type: ValueType) -> JSONNode {
      type == .mixed ? GraphText.mixed(value) : GraphText.node(value, as: type)
    }
    switch schema.kind {
    case .scalar(let type): return node(try read.value(column, key), type)
    case .list(let type), .set(let type):
      return .array(try read.values(column, key, 0..<Int.max).map { node($0, type) })
    case .map(let type):
      return .array(try read.entries(column, key, 0..<Int.max).map { .array([.string($0.key), node($0.value, type)]) })
    case .linkingObjects: return .null
    }
  }

  /// 64 bits (FNV-1a) over all names, keys and values in order: equal for equal contents, whatever the backend.
  func digest() throws(StorageError) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    func add(_ bytes: some Sequence<UInt8>) {
      for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
    for table in tables.sorted(by: { $0.name < $1.name }) {
      add(table.name.utf8)
      for key in try keys(of: table.id) { add(try line(table, key)) }
    }
    return hash
  }
}
