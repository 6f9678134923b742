import StorageInterface
import StoreValues
import VivariumTestSupport

extension ModelSchema {
  /// Few keys of maps, so that they meet.
  static func key(_ random: inout SeededGenerator) -> String {
    ["", "a", "b", "c", "é", "e\u{301}", "\0", "a\0", "key \(random.below(40))"][random.below(9)]
  }
}

extension ModelRun {
  /// One change of a set or a map, now and then of many members.
  func editMembers(_ pair: ModelPair) throws {
    guard let table = pair.plain.catalog.tables.filter({ $0.columns.contains { $0.schema.isSet || $0.schema.isMap } }).randomElement(using: &random),
      let key = try anyKey(table, pair.plain),
      let column = table.columns.filter({ $0.schema.isSet || $0.schema.isMap }).randomElement(using: &random)
    else { return }
    let id = table.column(column.id)
    note("members", "\(table.name).\(column.schema.name) of \(key)")
    if random.oneIn(40) { return _ = try pair.both { try $0.edit(id, key, .clear) } }
    if random.oneIn(60) { return _ = try pair.both { try $0.edit(id, key, .remove(0..<1)) } }
    for _ in 0..<(random.oneIn(30) ? 300 : 1 + random.below(4)) {
      if column.schema.isSet { try editSet(id, column, key, pair) } else { try editMap(id, column, key, pair) }
    }
  }

  private func member(_ column: ColumnEntry, _ pair: ModelPair) throws -> Value {
    let type = column.schema.valueType ?? .int64
    if type == .link { return try target(column, pair) }
    return random.oneIn(9) ? .null : ModelSchema.value(of: random.oneIn(50) ? .bool : type, &random)
  }

  private func editSet(_ id: ColumnID, _ column: ColumnEntry, _ key: ObjectKey, _ pair: ModelPair) throws {
    let value = try member(column, pair)
    if random.below(3) > 0 {
      try pair.both { try $0.insert(member: value, into: id, key) }
    } else {
      try pair.both { try $0.remove(member: value, from: id, key) }
    }
  }

  private func editMap(_ id: ColumnID, _ column: ColumnEntry, _ key: ObjectKey, _ pair: ModelPair) throws {
    let name = ModelSchema.key(&random)
    let value = try member(column, pair)
    if random.below(3) > 0 {
      try pair.both { try $0.set(value, forKey: name, in: id, key) == nil }
      try expectEqual(
        try pair.real.value(forKey: name, in: id, key), try pair.plain.value(forKey: name, in: id, key), "key \(name) after it was set")
    } else {
      try pair.both { try $0.remove(key: name, from: id, key) }
    }
  }

  /// Takes links to an object that is to be deleted out of a mixed property.
  func nullifyMixed(_ link: ObjectLink, _ owner: TableEntry, _ column: ColumnEntry, _ pair: ModelPair) throws {
    let id = owner.column(column.id)
    let sources = try pair.plain.allSources(of: link, through: id)
    try expectEqual(try pair.real.allSources(of: link, through: id), sources, "sources of \(link)")
    for source in Set(sources).sorted().map({ ObjectKey($0) }) {
      if column.schema.isScalar {
        let value = try pair.plain.value(id, source).nullifying(link)
        try pair.both { try $0.set(id, source, value) }
      } else if column.schema.isMap {
        for entry in try pair.plain.entries(id, source, 0..<Int.max) where entry.value.links.contains(link) {
          try pair.both { try $0.set(entry.value.nullifying(link), forKey: entry.key, in: id, source) == nil }
        }
      } else {
        for (position, value) in try pair.plain.values(id, source, 0..<Int.max).enumerated() where value.links.contains(link) {
          let other = value.nullifying(link)
          if column.schema.isList {
            try pair.both { try $0.edit(id, source, .set(at: position, other)) }
          } else {
            try pair.both { try $0.remove(member: value, from: id, source) }
            try pair.both { try $0.insert(member: other, into: id, source) }
          }
        }
      }
    }
  }
}
