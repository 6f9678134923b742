import StorageInterface
import StoreValues

extension StoreTour {
  /// Changes something of everything in a few commits, and reads it again.
  public mutating func write(_ engine: any StorageEngine, _ random: inout SeededGenerator) {
    for _ in 0..<2 {
      do throws(StorageError) {
        let write = try engine.beginWrite(.never)
        defer { write.end() }
        let isNested = random.oneIn(3)
        if isNested { try write.beginSavepoint() }
        for table in write.catalog.tables.prefix(5) { edit(write, table, &random) }
        if isNested { if random.oneIn(2) { try write.releaseSavepoint() } else { try write.rollbackToSavepoint() } }
        _ = try write.commit(CommitRecord(), .relaxed)
      } catch {
        note(error)
      }
    }
  }

  private mutating func edit(_ write: any WriteTransaction, _ table: TableEntry, _ random: inout SeededGenerator) {
    var keys: [Int64] = []
    do throws(StorageError) {
      try write.scan(table.id, [], from: ObjectKey(1), hints: []) { batch in
        for row in 0..<batch.count where batch.isLive(at: row) && keys.count < 2_000 { keys.append(batch.key(at: row).rawValue) }
        return keys.count < 2_000 ? .proceed : .stop
      }
    } catch {
      note(error)
    }
    for i in 0..<90 {
      let row = RowBuffer(table)
      for (slot, column) in table.columns.enumerated() where column.schema.isPrimaryKey || column.schema.isUnique {
        if column.schema.valueType == .int64 { row.set(slot, word: Int64(1_000_000 + i)) }
      }
      do throws(StorageError) { keys.append(try write.insert(row).rawValue) } catch {
        note(error)
        break
      }
    }
    guard !keys.isEmpty else { return }
    for _ in 0..<12 {
      let key = ObjectKey(keys[random.below(keys.count)])
      guard let column = table.columns.randomElement(using: &random) else { return }
      do throws(StorageError) { try change(write, table.column(column.id), column.schema, key, &random) } catch {
        note(error)
      }
    }
  }

  private func change(
    _ write: any WriteTransaction, _ id: ColumnID, _ schema: PropertySchema, _ key: ObjectKey, _ random: inout SeededGenerator
  ) throws(StorageError) {
    if random.oneIn(6) { return try write.delete(id.table, key) }
    switch schema.kind {
    case .scalar(let type):
      if type.isWord {
        try write.set(id, key, word: Int64(random.below(100)))
        return
      }
      if type == .string || type == .data {
        let text = Value.string(String(repeating: "x", count: random.oneIn(4) ? 3_000 : random.below(20)))
        return try text.withBytes { bytes throws(StorageError) in _ = try write.set(id, key, bytes: bytes) }
      }
      try write.set(id, key, bytes: nil)
    case .list(let type):
      if random.oneIn(3) { return try write.edit(id, key, .clear) }
      let count = try write.elementCount(id, key)
      if count > 0, random.oneIn(2) { return try write.edit(id, key, .remove(random.below(Swift.min(count, 1_000))..<count)) }
      let value = type == .mixed ? Value.int(1) : type == .link ? .link(key) : Value.zero(of: type)
      try write.edit(id, key, .insert(at: Swift.min(count, random.below(600)), [Value](repeating: value, count: random.below(30))))
    case .set(let type):
      let value = type == .string ? Value.string("tag \(random.below(90))") : .int(Int64(random.below(90)))
      if random.oneIn(2) { _ = try write.insert(member: value, into: id, key) } else { _ = try write.remove(member: value, from: id, key) }
    case .map(let type):
      let value = type == .link ? Value.link(key) : .double(2)
      let name = "key \(random.below(90))"
      if random.oneIn(2) { _ = try write.set(value, forKey: name, in: id, key) } else { _ = try write.remove(key: name, from: id, key) }
    case .linkingObjects: return
    }
  }
}
