import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageReading {
  /// Keys of an index's run.
  func allKeys(in index: IndexID, _ range: IndexRange = .all, descending: Bool = false) throws -> [Int64] {
    var result: [Int64] = []
    var sawEmpty = false
    try keys(in: index, range, descending: descending) { block in
      sawEmpty = sawEmpty || block.isEmpty
      result += block
      return .proceed
    }
    try expect(!sawEmpty, "a block of keys was empty")
    return result
  }

  /// Backlinks.
  func allSources(of target: ObjectKey, through column: ColumnID) throws -> [Int64] {
    var result: [Int64] = []
    try sources(of: target, through: column) { block in
      result += block
      return .proceed
    }
    return result
  }

  /// Backlinks of an object by its type and key.
  func allSources(of target: ObjectLink, through column: ColumnID) throws -> [Int64] {
    var result: [Int64] = []
    try sources(of: target, through: column) { block in
      result += block
      return .proceed
    }
    return result
  }

  /// Every live row of a scan: its key and its values. Checks what holds for every batch on the way.
  func allRows(
    _ table: TableEntry, _ names: [String], from start: ObjectKey = ObjectKey(0), hints: [ZoneHint] = []
  ) throws -> [(key: Int64, values: [Value])] {
    let ids = names.map { table.id($0) }
    let types = names.map { table[$0]?.schema.valueType ?? .int64 }
    var rows: [(key: Int64, values: [Value])] = []
    var faults: [String] = []
    var last = Int64.min
    try scan(table.id, ids, from: start, hints: hints) { batch in
      if !(1...4096).contains(batch.count) { faults.append("a batch of \(batch.count) rows") }
      if batch.columns.count != ids.count { faults.append("\(batch.columns.count) columns for \(ids.count)") }
      for (position, type) in types.enumerated() {
        faults += batch.columns[position].faults(type, count: batch.count) { batch.isLive(at: $0) }
      }
      for row in 0..<batch.count {
        let key = batch.key(at: row).rawValue
        if key <= last { faults.append("key \(key) after \(last)") }
        last = key
        guard batch.isLive(at: row) else { continue }
        rows.append((key, types.enumerated().map { batch.columns[$0.offset].value(at: row, as: $0.element) }))
      }
      return .proceed
    }
    try expect(faults.isEmpty, faults.first ?? "")
    return rows
  }

  /// The numbers of the commit records after a version.
  func allVersions(after version: UInt64) throws -> [UInt64] {
    var result: [UInt64] = []
    try history(after: Version(version)) { record in
      result.append(record.version.rawValue)
      return .proceed
    }
    return result
  }

  /// All elements of a list.
  func allValues(_ table: TableEntry, _ name: String, _ owner: ObjectKey) throws -> [Value] {
    let column = table.column(named: name)
    let values = try values(column, owner, 0..<Int.max)
    try expectEqual(try elementCount(column, owner), values.count, "elementCount of \(name)")
    return values
  }

  /// All entries of a map, the values and keys of which are read in one go and one by one.
  func allEntries(_ table: TableEntry, _ name: String, _ owner: ObjectKey) throws -> [ValueMap.Entry] {
    let column = table.column(named: name)
    let entries = try entries(column, owner, 0..<Int.max)
    try expectEqual(try elementCount(column, owner), entries.count, "elementCount of \(name)")
    return entries
  }

  /// A scalar by name.
  func value(_ table: TableEntry, _ name: String, _ key: ObjectKey) throws -> Value {
    try value(table.column(named: name), key)
  }
}

extension ColumnVector {
  /// What is wrong with the vector itself: its count, its layout for the type, its bounds.
  func faults(_ type: ValueType, count rows: Int, isLive: (Int) -> Bool) -> [String] {
    var faults: [String] = []
    if count != rows { faults.append("a vector of \(count) rows in a batch of \(rows)") }
    if !layout.suits(type) { faults.append("layout \(layout) for \(type.rawValue)") }
    guard type.isWord else { return faults }
    for row in 0..<rows where isLive(row) {
      guard let ordinal = value(at: row, as: type).ordinalForBounds(type) else { continue }
      if ordinal < min || ordinal > max { faults.append("ordinal \(ordinal) outside the bounds \(min)...\(max)") }
    }
    return faults
  }
}

extension ColumnVector.Layout {
  fileprivate func suits(_ type: ValueType) -> Bool {
    switch type.physical {
    case .integer: [.int8, .int16, .int32, .int64, .constantWord].contains(self) || (type == .bool && self == .bits)
    case .double: [.float64, .constantWord].contains(self)
    case .float: [.float32, .constantWord].contains(self)
    case .bytes: [.bytes16, .bytes32, .constantBytes].contains(self)
    case .bytes16: [.fixed16, .constantBytes].contains(self)
    }
  }
}

extension Value {
  /// The ordinal by the rules of `ZoneHint`; nil for null and NaN.
  fileprivate func ordinalForBounds(_ type: ValueType) -> Int64? {
    switch self {
    case .float(let x): x.isNaN ? nil : ZoneHint.ordinal(of: Double(x))
    case .double(let x): x.isNaN ? nil : ZoneHint.ordinal(of: x)
    default: word
    }
  }
}
