import StorageInterface
import StorageReference
import StoreValues
import VivariumTestSupport

extension ModelRun {
  /// One write on both sides, ended in the same way, and compared.
  func writeOnce() throws {
    writeKeys = [:]
    let pair = ModelPair(real: try engine.beginWrite(.never), plain: try plain.beginWrite(.never))
    defer {
      pair.real.end()
      pair.plain.end()
    }
    try expectEqual(pair.real.version, pair.plain.version, "the version a write begins from")
    let isBig = random.oneIn(100)
    guard try edit(pair, 1 + random.below(30), isBig: isBig, depth: 0) else { return }
    if random.oneIn(4) { try compare(pair.real, pair.plain, "in the write") }
    if random.oneIn(4) {
      note("rollback")
      if random.oneIn(2) { pair.real.end() }
    } else {
      try commit(pair)
    }
    pair.real.end()
    pair.plain.end()
    if random.oneIn(6) { try compareNewest() }
  }

  func write(_ body: (ModelPair) throws -> Void) throws {
    writeKeys = [:]
    let pair = ModelPair(real: try engine.beginWrite(.never), plain: try plain.beginWrite(.never))
    defer {
      pair.real.end()
      pair.plain.end()
    }
    try body(pair)
    try commit(pair)
  }

  private func commit(_ pair: ModelPair) throws {
    note("commit")
    var record = CommitRecord(
      author: random.oneIn(3) ? nil : "step \(steps)", origin: random.next(), timeMilliseconds: Int64(steps), changedCatalog: random.oneIn(9))
    if random.oneIn(2) {
      record.tables = [TableChange(table: TableID(1), inserted: KeyRuns((1...20).map { _ in Int64(random.below(90) + 1) }))]
    }
    let durability: Durability = random.oneIn(30) ? .full : .relaxed
    if try pair.both({ try $0.commit(record, durability) }) != nil {
      committedKeys.merge(writeKeys) { max($0, $1) }
    }
  }

  /// Some edits, with savepoints among them. False when the write is spoiled.
  private func edit(_ pair: ModelPair, _ count: Int, isBig: Bool, depth: Int) throws -> Bool {
    for _ in 0..<count {
      switch random.below(20) {
      case 0...5: try insert(pair)
      case 6: try delete(pair)
      case 7...11: try set(pair)
      case 12...13: try editList(pair)
      case 14...15: try editMembers(pair)
      case 16 where depth < 3:
        note("savepoint")
        try pair.both { try $0.beginSavepoint() }
        guard try edit(pair, random.below(12), isBig: false, depth: depth + 1) else { return false }
        if random.oneIn(8) { try compare(pair.real, pair.plain, "in a savepoint") }
        let keeps = random.oneIn(2)
        note(keeps ? "release" : "undo")
        try pair.both { if keeps { try $0.releaseSavepoint() } else { try $0.rollbackToSavepoint() } }
        if random.oneIn(4) { try compare(pair.real, pair.plain, "after a savepoint") }
      case 17 where depth == 0 && random.oneIn(8):
        if try !grow(pair) { return false }
      case 18 where isBig:
        note("bulk")
        for _ in 0..<300 + random.below(900) { try insert(pair, quietly: true) }
      case 18 where random.oneIn(6): try deleteMany(pair)
      case 18: try setSide(pair)
      case 19: try compareRange(pair.real, pair.plain)
      default: try misuse(pair)
      }
    }
    return true
  }

  func insert(_ pair: ModelPair, quietly: Bool = false) throws {
    guard let table = pair.plain.catalog.tables.randomElement(using: &random) else { return }
    let row = RowBuffer(table)
    for (slot, column) in table.columns.enumerated() {
      guard case .scalar(let type) = column.schema.kind, !random.oneIn(5) || column.schema.isPrimaryKey else { continue }
      if type == .link {
        row.set(slot, try target(column, pair))
      } else {
        let mayBeNull = column.schema.isOptional || random.oneIn(100)
        row.set(slot, mayBeNull && random.oneIn(4) ? .null : ModelSchema.value(of: type, &random))
      }
    }
    if !quietly { note("insert", table.name) }
    // The engine's key first: it may leave gaps, and only has to go up.
    let real = try ModelOutcome { try pair.real.insert(row) }
    if let key = real.value {
      try expect(key.rawValue > highestKeys[table.id, default: 0], "\(key) after \(highestKeys[table.id, default: 0])")
      highestKeys[table.id] = key.rawValue
      writeKeys[table.id] = key.rawValue
      plain.setNextKey(of: table.id, key)
    }
    let expected = try ModelOutcome { try pair.plain.insert(row) }
    try expect(real == expected, "insert into \(table.name) gave \(real), the plain one \(expected)")
  }

  func target(_ column: ColumnEntry, _ pair: ModelPair) throws -> Value {
    guard let table = column.schema.target.flatMap({ pair.plain.catalog[$0] }) else { return .null }
    guard !random.oneIn(4), let key = try anyKey(table, pair.plain) else { return .null }
    return .link(key)
  }

  /// A key that lives; mostly one of few, so that links meet.
  func anyKey(_ table: TableEntry, _ tx: any StorageReading) throws -> ObjectKey? {
    var keys: [Int64] = []
    let limit = random.oneIn(2) ? 6 : Int.max
    try tx.scan(table.id, [], from: ObjectKey(0), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) { keys.append(batch.key(at: row).rawValue) }
      return keys.count < limit ? .proceed : .stop
    }
    return keys.prefix(limit).randomElement(using: &random).map { ObjectKey($0) }
  }

  private func delete(_ pair: ModelPair) throws {
    guard let table = pair.plain.catalog.tables.randomElement(using: &random), let key = try anyKey(table, pair.plain) else { return }
    try delete(table, key, pair)
  }

  private func deleteMany(_ pair: ModelPair) throws {
    guard let table = pair.plain.catalog.tables.randomElement(using: &random) else { return }
    let keys = try pair.plain.allRows(table, []).map(\.key)
    let start = random.below(keys.count + 1)
    for key in keys[start...].prefix(random.below(300)) where try pair.plain.contains(table.id, ObjectKey(key)) {
      try delete(table, ObjectKey(key), pair)
    }
  }

  /// Nullifies what points to the object, then deletes it.
  private func delete(_ table: TableEntry, _ key: ObjectKey, _ pair: ModelPair) throws {
    note("delete", "\(table.name) \(key)")
    for owner in pair.plain.catalog.tables {
      for column in owner.columns where column.schema.isStored && column.schema.valueType == .mixed {
        try nullifyMixed(ObjectLink(table.id, key), owner, column, pair)
      }
      for column in owner.columns where column.schema.isRelationship && column.schema.target == table.name {
        let id = owner.column(column.id)
        let sources = try pair.plain.allSources(of: key, through: id)
        try expectEqual(try pair.real.allSources(of: key, through: id), sources, "sources of \(key)")
        for source in Set(sources).sorted().map({ ObjectKey($0) }) {
          if column.schema.isSet {
            try pair.both { try $0.remove(member: .link(key), from: id, source) }
          } else if column.schema.isMap {
            for entry in try pair.plain.entries(id, source, 0..<Int.max) where entry.value == .link(key) {
              try pair.both { try $0.set(.null, forKey: entry.key, in: id, source) }
            }
          } else if column.schema.isList {
            let list = try pair.plain.values(id, source, 0..<Int.max)
            for position in list.indices.reversed() where list[position] == .link(key) {
              try pair.both { try $0.edit(id, source, .remove(position..<position + 1)) }
            }
          } else {
            try pair.both { try $0.set(id, source, word: nil) }
          }
        }
      }
    }
    try pair.both { try $0.delete(table.id, key) }
  }

  private func set(_ pair: ModelPair) throws {
    guard let table = pair.plain.catalog.tables.randomElement(using: &random), let key = try anyKey(table, pair.plain),
      let column = table.columns.filter(\.schema.isScalar).randomElement(using: &random),
      case .scalar(let type) = column.schema.kind
    else { return }
    let value: Value =
      type == .link ? try target(column, pair) : random.oneIn(8) ? .null : ModelSchema.value(of: type, &random)
    note("set", "\(table.name).\(column.schema.name) of \(key) to \(value.description.prefix(40))")
    let id = table.column(column.id)
    let _: Bool? = try pair.both { write -> Bool in
      if type.isWord { return try write.set(id, key, word: value.word) }
      return try value.withBytes(as: type) { bytes throws(StorageError) in try write.set(id, key, bytes: bytes) }
    }
  }

  private func editList(_ pair: ModelPair) throws {
    guard let table = pair.plain.catalog.tables.filter({ $0.columns.contains { $0.schema.isList } }).randomElement(using: &random),
      let key = try anyKey(table, pair.plain),
      let column = table.columns.filter(\.schema.isList).randomElement(using: &random), case .list(let type) = column.schema.kind
    else { return }
    let id = table.column(column.id)
    let count = try pair.plain.elementCount(id, key)
    func element() throws -> Value {
      if type == .link { return try target(column, pair) }
      return random.oneIn(9) ? .null : ModelSchema.value(of: type, &random)
    }
    let shift = random.oneIn(30) ? 3 : 0
    let position = random.below(count + 1) + shift
    let edit: ElementEdit
    switch count == 0 ? random.below(2) : random.below(7) {
    case 0, 1: edit = .insert(at: position, try (0..<(random.oneIn(40) ? 700 : random.below(4))).map { _ in try element() })
    case 2, 3: edit = .remove(position..<max(position, min(count + shift, position + random.below(5))))
    case 4: edit = .set(at: random.below(count) + shift, try element())
    case 5: edit = .move(from: random.below(count) + shift, to: random.below(count))
    default: edit = random.oneIn(5) ? .clear : .insert(at: count, [try element()])
    }
    note("edit", "\(table.name).\(column.schema.name) of \(key): \("\(edit)".prefix(80))")
    try pair.both { try $0.edit(id, key, edit) }
  }

  /// Calls that must be refused, by both alike.
  private func misuse(_ pair: ModelPair) throws {
    note("misuse")
    let table = pair.plain.catalog.tables[0]
    let dead = ObjectKey(random.oneIn(2) ? 1_000_000_000 : -1)
    switch random.below(5) {
    case 0: try pair.both { try $0.delete(table.id, dead) }
    case 1: try pair.both { try $0.set(table.column(named: "small"), dead, word: 1) }
    case 2: try pair.both { try $0.edit(table.column(named: "numbers"), dead, .clear) }
    case 3:
      if let key = try anyKey(table, pair.plain) {
        try pair.both { try $0.set(table.column(named: "small"), key, word: 128) }
      }
    default: try pair.both { try $0.word(table.column(named: "name"), dead) }
    }
  }

  /// Grows the catalog. False when it failed on both sides, which spoils the write.
  private func grow(_ pair: ModelPair) throws -> Bool {
    var grown = schema
    grown.grow(&random)
    note("grow")
    guard let catalog = try? pair.plain.catalog.adopting(Schema(grown.objects)).catalog else { return true }
    // Where several objects are equal, which of them is named is the engine's choice.
    var (real, plain) = (
      try ModelOutcome { () -> Nothing in
        try pair.real.setCatalog(catalog)
        return Nothing()
      },
      try ModelOutcome { () -> Nothing in
        try pair.plain.setCatalog(catalog)
        return Nothing()
      })
    (real.key, plain.key) = (nil, nil)
    try expect(real == plain, "setCatalog gave \(real), the plain one \(plain)")
    guard plain.value != nil else { return false }
    schema = grown
    return true
  }
}
