import Foundation
import StorageInterface
import StorageReference
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// Random histories on SQLite and on the plain reference: equal answers and equal errors all the way.
@Suite struct DifferentialTests {
  @Test(arguments: 0..<6)
  func randomHistoriesGiveTheReferencesAnswers(round: Int) throws {
    var random = SeededGenerator.forTest("randomHistoriesGiveTheReferencesAnswers \(round)")
    let place = Place()
    var pair = try Pair(place)
    for _ in 0..<environmentNumber("VIVARIUM_ROUNDS", default: 12) {
      try pair.write(&random)
      try pair.compare(&random)
      if random.oneIn(4) { try pair.reopen() }
    }
  }
}

private struct Pair {
  var sqlite: any StorageEngine
  var reference: any StorageEngine
  let place: Place
  let referenceBackend = ReferenceBackend()
  let table: TableEntry
  var keys: [ObjectKey] = []
  /// The highest key of a committed insert, and of those of the open write.
  private var highest = ObjectKey(0)
  private var highestWritten = ObjectKey(0)
  /// Whether nothing was inserted since the engines were opened: what they remember of rolled back writes may differ.
  private var isReopened = false

  init(_ place: Place) throws {
    self.place = place
    sqlite = try place.open()
    reference = try referenceBackend.open(OpenOptions())
    let catalog = try sqlite.adopt(.everything)
    #expect(try reference.adopt(.everything) == catalog)
    table = try #require(catalog["Thing"])
  }

  mutating func reopen() throws {
    sqlite.close()
    reference.close()
    sqlite = try place.open()
    reference = try referenceBackend.open(OpenOptions())
    isReopened = true
  }

  // MARK: Writing

  mutating func write(_ random: inout SeededGenerator) throws {
    let a = try sqlite.beginWrite(.never)
    let b = try reference.beginWrite(.never)
    defer {
      a.end()
      b.end()
    }
    var saved: [(keys: [ObjectKey], highest: ObjectKey)] = []
    highestWritten = highest
    for _ in 0..<random.below(60) {
      switch random.below(20) {
      case 0 where saved.count < 3:
        saved.append((keys, highestWritten))
        try both(a, b) { try $0.beginSavepoint() }
      case 1 where !saved.isEmpty:
        saved.removeLast()
        try both(a, b) { try $0.releaseSavepoint() }
      case 2 where !saved.isEmpty:
        (keys, highestWritten) = saved.removeLast()
        try both(a, b) { try $0.rollbackToSavepoint() }
      default: try step(a, b, &random)
      }
      if random.oneIn(10) { try compare(a, b, &random) }
    }
    for _ in saved { try both(a, b) { try $0.releaseSavepoint() } }
    if random.oneIn(5) { return }
    let record = CommitRecord(author: "differential")
    #expect(try a.commit(record, .relaxed) == b.commit(record, .relaxed))
    highest = highestWritten
  }

  private mutating func step(
    _ a: any WriteTransaction, _ b: any WriteTransaction, _ random: inout SeededGenerator
  ) throws {
    let key = random.oneIn(20) ? ObjectKey(Int64(random.below(1000))) : keys.randomElement(using: &random) ?? ObjectKey(1)
    switch random.below(10) {
    case 0..<4:
      let row = RowBuffer(table)
      for (slot, column) in table.columns.enumerated() {
        if case .scalar(let type) = column.schema.kind, !random.oneIn(4) {
          row.set(slot, value(type, optional: column.schema.isOptional, &random))
        }
      }
      if let key = try insert(row, a, b) { keys.append(key) }
    case 4:
      try both(a, b) { try $0.delete(table.id, key) }
      keys.removeAll { $0 == key }
    case 5..<8:
      guard let column = table.columns.filter({ $0.schema.isScalar }).randomElement(using: &random),
        case .scalar(let type) = column.schema.kind
      else { return }
      let value = value(type, optional: true, &random)
      try both(a, b) { try $0.set(table.column(column.id), key, value) }
    default:
      guard let column = table.columns.filter({ $0.schema.isList }).randomElement(using: &random),
        case .list(let type) = column.schema.kind
      else { return }
      let edit = edit(type, optional: column.schema.isOptional, &random)
      try both(a, b) { try $0.edit(table.column(column.id), key, edit) }
    }
  }

  /// An engine that was closed may forget the keys that only rolled back writes had, or remember them: the first key after it
  /// was opened is the engine's to choose, above all that were committed.
  private mutating func insert(
    _ row: RowBuffer, _ a: any WriteTransaction, _ b: any WriteTransaction
  ) throws -> ObjectKey? {
    let inserted = outcome { try a.insert(row) }
    if let key = inserted.value {
      #expect(key > highest)
      highestWritten = max(highestWritten, key)
      if isReopened { (reference as? ReferenceEngine)?.setNextKey(of: table.id, key) }
      isReopened = false
    }
    #expect(inserted == outcome { try b.insert(row) })
    return inserted.value
  }

  private func edit(_ type: ValueType, optional: Bool, _ random: inout SeededGenerator) -> ElementEdit {
    let (x, y) = (random.below(6), random.below(6))
    switch random.below(8) {
    case 0..<4: return .insert(at: x / 2, (0..<random.below(4)).map { _ in value(type, optional: optional, &random) })
    case 4: return .remove(min(x, y)..<max(x, y))
    case 5: return .set(at: x, value(type, optional: optional, &random))
    case 6: return .move(from: x, to: y)
    default: return random.oneIn(4) ? .clear : .insert(at: 0, [value(type, optional: optional, &random)])
    }
  }

  /// Few different values, so that ties and conflicts happen, and every edge.
  private func value(_ type: ValueType, optional: Bool, _ random: inout SeededGenerator) -> Value {
    if optional, random.oneIn(4) { return .null }
    let doubles: [Double] = [0, -0.0, .nan, -.nan, .infinity, -.infinity, 1, -1.5, 0.1, 1e300, Double.leastNonzeroMagnitude]
    switch type {
    case .bool: return .bool(random.oneIn(2))
    case .int8, .int16, .int32: return .int(Int64(random.below(200) - 100))
    case .int64: return .int(random.oneIn(10) ? .max - Int64(random.below(3)) : Int64(random.below(40)))
    case .float: return .float(Float(doubles.randomElement(using: &random) ?? 0))
    case .double: return .double(doubles.randomElement(using: &random) ?? 0)
    case .date: return .date(TimestampSamples.any(&random))
    case .string: return .string(["", "a", "a\0b", "b", "é", "e\u{301}", "zz'\"", "🐕"].randomElement(using: &random) ?? "")
    case .data: return .data([Data(), Data([0]), Data([0, 255, 1])].randomElement(using: &random) ?? Data())
    case .uuid: return .uuid(UUID(uuid: (UInt8(random.below(3)), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9)))
    case .objectId, .decimal, .mixed: return RandomMixed.value(type, &random)
    case .link: return .link(keys.randomElement(using: &random) ?? ObjectKey(77))
    }
  }

  @discardableResult
  private func both<R: Equatable>(
    _ a: any WriteTransaction, _ b: any WriteTransaction, _ body: (any WriteTransaction) throws -> R
  ) throws -> R? {
    let (x, y) = (outcome { try body(a) }, outcome { try body(b) })
    #expect(x == y)
    return x.value
  }

  private func both(
    _ a: any WriteTransaction, _ b: any WriteTransaction, _ body: (any WriteTransaction) throws -> Void
  ) throws {
    _ = try both(a, b) { transaction -> Bool in
      try body(transaction)
      return true
    }
  }

  // MARK: Comparing

  func compare(_ random: inout SeededGenerator) throws {
    let a = try sqlite.beginRead()
    let b = try reference.beginRead()
    defer {
      a.end()
      b.end()
    }
    #expect(a.version == b.version)
    #expect(try sqlite.latestVersion() == reference.latestVersion())
    try compare(a, b, &random)
  }

  private func compare(_ a: any StorageReading, _ b: any StorageReading, _ random: inout SeededGenerator) throws {
    #expect(try a.count(table.id) == b.count(table.id))
    #expect(try picture(a) == picture(b))
    for index in table.indexes {
      for range in try ranges(index, &random) {
        for descending in [false, true] {
          let (x, y) = try (keys(a, index, range, descending), keys(b, index, range, descending))
          #expect(x == y, "\(index.properties) \(range) \(descending)")
        }
        #expect(try a.count(in: index.id, range) == b.count(in: index.id, range), "\(range)")
      }
    }
    for column in table.columns where column.schema.isRelationship && column.schema.isStored {
      for key in keys { #expect(try sources(a, key, column) == sources(b, key, column)) }
    }
  }

  private func ranges(_ index: IndexEntry, _ random: inout SeededGenerator) throws -> [IndexRange] {
    var result = [IndexRange.all]
    for _ in 0..<6 {
      var range = IndexRange()
      let count = random.below(index.properties.count + 1)
      for property in index.properties.prefix(count) { range.equal.append(try any(property, &random)) }
      if count < index.properties.count {
        range.lower = try bound(index.properties[count], &random)
        range.upper = try bound(index.properties[count], &random)
      }
      result.append(range)
    }
    return result
  }

  /// Mostly of the column's type, sometimes of another.
  private func any(_ property: PropertyID, _ random: inout SeededGenerator) throws -> Value {
    let type = try #require(table[property]?.schema.valueType)
    let other = random.oneIn(6) ? ValueType.allCases.randomElement(using: &random) ?? type : type
    return value(other, optional: true, &random)
  }

  private func bound(_ property: PropertyID, _ random: inout SeededGenerator) throws -> IndexRange.Bound {
    switch random.below(3) {
    case 0: .unbounded
    case 1: .including(try any(property, &random))
    default: .excluding(try any(property, &random))
    }
  }

  private func keys(
    _ reading: any StorageReading, _ index: IndexEntry, _ range: IndexRange, _ descending: Bool
  ) throws -> [Int64] {
    var result: [Int64] = []
    try reading.keys(in: index.id, range, descending: descending) { result += $0; return .proceed }
    return result
  }

  private func sources(_ reading: any StorageReading, _ key: ObjectKey, _ column: ColumnEntry) throws -> [Int64] {
    var result: [Int64] = []
    try reading.sources(of: key, through: table.column(column.id)) { result += $0; return .proceed }
    return result
  }

  /// Every value of every object, read by a scan, and again one by one.
  private func picture(_ reading: any StorageReading) throws -> [Int64: [Value]] {
    var result: [Int64: [Value]] = [:]
    let columns = table.columns.filter { $0.schema.isScalar }
    try reading.scan(table.id, columns.map(\.id), from: ObjectKey(.min), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) {
        var values: [Value] = []
        for (column, vector) in zip(columns, batch.columns) {
          values.append(vector.value(at: row, as: column.schema.valueType ?? .link))
        }
        result[batch.key(at: row).rawValue] = values
      }
      return .proceed
    }
    for (key, values) in result.sorted(by: { $0.key < $1.key }) {
      for (column, value) in zip(columns, values) {
        #expect(try reading.value(table.column(column.id), ObjectKey(key)) == value)
        if let windowed = reading.powers.windows {
          let window = try #require(try windowed.window(table.column(column.id), containing: ObjectKey(key)))
          let row = Int(key - window.firstKey)
          #expect(window.vector.value(at: row, as: column.schema.valueType ?? .link) == value)
        }
      }
      for column in table.columns where column.schema.isList {
        let id = table.column(column.id)
        let count = try reading.elementCount(id, ObjectKey(key))
        let elements = try reading.values(id, ObjectKey(key), 0..<count)
        result[key]? += elements + [.int(Int64(count))]
        if count > 1 { #expect(try reading.values(id, ObjectKey(key), 1..<count) == Array(elements.dropFirst())) }
      }
    }
    return result
  }
}

private enum Outcome<R: Equatable>: Equatable {
  case value(R)
  case error(String, StorageError.Scope, IndexID?, ObjectKey?)

  var value: R? { if case .value(let value) = self { value } else { nil } }
}

private func outcome<R: Equatable>(_ body: () throws -> R) -> Outcome<R> {
  do { return .value(try body()) } catch let error as StorageError {
    return .error(error.code.rawValue, error.scope, error.index, error.conflictingKey)
  } catch {
    return .error("\(error)", .engine, nil, nil)
  }
}
