import StorageInterface
import StorageReference
import StoreValues
import VivariumTestSupport

extension ModelRun {
  func takeReader() throws {
    note("read")
    let pair = (real: try engine.beginRead(), plain: try plain.beginRead())
    try expectEqual(pair.real.version, pair.plain.version, "the version of a snapshot")
    readers.append(pair)
    // Ours, each as often as it is held, and nobody else.
    try expectEqual(try engine.statistics().pins.map(\.version).sorted(), readers.map(\.real.version).sorted(), "pins")
  }

  func compareReader(_ position: Int) throws {
    note("compare", "reader \(position) of \(readers.count) at \(readers[position].plain.version)")
    try compare(readers[position].real, readers[position].plain, "reader \(position)")
  }

  func endReader() throws {
    guard !readers.isEmpty else { return }
    note("endRead")
    let (real, plain) = readers.remove(at: random.below(readers.count))
    real.end()
    plain.end()
  }

  func endReaders() {
    for (real, plain) in readers {
      real.end()
      plain.end()
    }
    readers = []
  }

  func reopen() throws {
    guard subject.persists else { return }
    note("reopen")
    endReaders()
    engine.close()
    plain.close()
    engine = try backend.open(OpenOptions(historyLimit: 50))
    guard let plain = try plainBackend.open(OpenOptions(historyLimit: 50)) as? ReferenceEngine else { return }
    self.plain = plain
    try compareNewest()
    // Keys of rolled-back writes may be given out again by an engine that was opened since.
    highestKeys = committedKeys
  }

  func compareNewest() throws {
    try expectEqual(try engine.latestVersion(), try plain.latestVersion(), "latestVersion")
    let (real, plain) = (try engine.beginRead(), try plain.beginRead())
    defer {
      real.end()
      plain.end()
    }
    note("compareNewest")
    try compare(real, plain, "the newest version")
  }

  func compareHistory() throws {
    let (real, plain) = (try engine.beginRead(), try plain.beginRead())
    defer {
      real.end()
      plain.end()
    }
    note("history")
    let version = plain.version.rawValue
    let after = Version(version - min(version, UInt64(random.below(50))))
    func records(_ read: any ReadTransaction) throws -> [CommitRecord] {
      var records: [CommitRecord] = []
      try read.history(after: after) { record in
        records.append(record)
        return .proceed
      }
      return records
    }
    try expectEqual(try records(real), try records(plain), "history after \(after)")
  }

  /// Everything that the two show.
  func compare(_ real: any StorageReading, _ plain: any StorageReading, _ what: String) throws {
    try expectEqual(real.version, plain.version, "\(what), version")
    try expectEqual(real.catalog, plain.catalog, "\(what), catalog")
    let (actual, expected) = (try Picture(real), try Picture(plain))
    try StorageConformance.expectSame(actual, expected, what)
    for _ in 0..<3 { try compareRange(real, plain) }
    try comparePoints(real, plain)
    try compareSides(real, plain, what)
  }

  /// A random run of a random index.
  func compareRange(_ real: any StorageReading, _ plain: any StorageReading) throws {
    guard let table = plain.catalog.tables.randomElement(using: &random), let index = table.indexes.randomElement(using: &random)
    else { return }
    let types = index.properties.compactMap { table[$0]?.schema.valueType }
    func value(_ type: ValueType) -> Value {
      if random.oneIn(5) { return .null }
      if random.oneIn(8) { return ModelSchema.value(of: [.int64, .double, .decimal, .float, .mixed][random.below(5)], &random) }
      return type == .link ? .link(ObjectKey(Int64(random.below(12)))) : ModelSchema.value(of: type, &random)
    }
    func bound(_ type: ValueType) -> IndexRange.Bound {
      switch random.below(3) {
      case 0: .unbounded
      case 1: .including(value(type))
      default: .excluding(value(type))
      }
    }
    let equal = random.below(types.count + 1)
    var range = IndexRange(equal: types.prefix(equal).map { value($0) })
    if equal < types.count { (range.lower, range.upper) = (bound(types[equal]), bound(types[equal])) }
    let descending = random.oneIn(2)
    let names = index.properties.compactMap { table[$0]?.schema.name }
    let shown = "index \(names) of \(table.name) in \(range)\(descending ? " descending" : "")"
    try expectEqual(
      try real.allKeys(in: index.id, range, descending: descending), try plain.allKeys(in: index.id, range, descending: descending), shown)
    try expectEqual(try real.count(in: index.id, range), try plain.count(in: index.id, range), "count of \(shown)")
  }

  /// A few objects by point reads, windows and parts of lists; a scan from the middle with a hint.
  private func comparePoints(_ real: any StorageReading, _ plain: any StorageReading) throws {
    for table in plain.catalog.tables {
      guard let key = try anyKey(table, plain) else { continue }
      try expect(try real.contains(table.id, key), "\(key) of \(table.name) does not live")
      for column in table.columns where column.schema.isScalar {
        let id = table.column(column.id)
        let expected = try plain.value(id, key)
        try expectEqual(try real.value(id, key), expected, "\(table.name).\(column.schema.name) of \(key)")
        guard let windows = real.powers.windows, let type = column.schema.valueType else { continue }
        guard let window = try windows.window(id, containing: key) else { throw ConformanceFailure("no window for \(key)") }
        try expectEqual(
          window.vector.value(at: Int(key.rawValue - window.firstKey), as: type), expected, "the window of \(column.schema.name) of \(key)")
      }
      for column in table.columns where column.schema.isSet || column.schema.isMap { try compareMembers(table, column, key, real, plain) }
      for column in table.columns where column.schema.isList {
        let id = table.column(column.id)
        let start = random.below(try plain.elementCount(id, key) + 1)
        let range = start..<start + random.below(20)
        try expectEqual(try real.values(id, key, range), try plain.values(id, key, range), "\(column.schema.name) \(range)")
      }
    }
    try compareHintedScan(real, plain)
  }

  private func compareMembers(
    _ table: TableEntry, _ column: ColumnEntry, _ key: ObjectKey, _ real: any StorageReading, _ plain: any StorageReading
  ) throws {
    let id = table.column(column.id)
    let shown = "\(table.name).\(column.schema.name) of \(key)"
    let start = random.below(try plain.elementCount(id, key) + 1)
    let range = start..<start + random.below(20)
    try expectEqual(try real.values(id, key, range), try plain.values(id, key, range), "\(shown) \(range)")
    let probe: Value
    if column.schema.isMap {
      let name = ModelSchema.key(&random)
      probe = .string(name)
      try expectEqual(try real.value(forKey: name, in: id, key), try plain.value(forKey: name, in: id, key), "\(shown), key \(name)")
    } else {
      let type = column.schema.valueType ?? .int64
      probe = type == .link ? .link(ObjectKey(Int64(1 + random.below(9)))) : ModelSchema.value(of: type, &random)
      try expectEqual(try real.contains(member: probe, in: id, key), try plain.contains(member: probe, in: id, key), "\(shown) has \(probe)")
    }
    try expectEqual(try real.position(of: probe, in: id, key), try plain.position(of: probe, in: id, key), "\(shown), place of \(probe)")
  }

  private func compareHintedScan(_ real: any StorageReading, _ plain: any StorageReading) throws {
    guard let node = plain.catalog["Node"], let start = try anyKey(node, plain) else { return }
    let (low, high) = (Int64(random.below(5)) - 2, Int64(random.below(100)))
    func hinted(_ tx: any StorageReading) throws -> [Int64] {
      try tx.allRows(node, ["id"], from: start, hints: [ZoneHint(column: 0, min: low, max: high)])
        .filter { $0.values[0].word.map { low <= $0 && $0 <= high } ?? false }.map(\.key)
    }
    try expectEqual(try hinted(real), try hinted(plain), "a scan from \(start) with a hint")
  }
}
