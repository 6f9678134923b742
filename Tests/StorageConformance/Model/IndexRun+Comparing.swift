import StorageInterface
import StorageReference
import StoreValues
import VivariumTestSupport

extension IndexRun {
  mutating func compare() throws {
    let expected = try plain.beginRead()
    for i in engines.indices {
      let read = try engines[i].beginRead()
      try compare(read, expected, "engine \(i) in \(read.version)")
      if random.oneIn(8) {
        var faults: [String] = []
        try engines[i].powers.structure?.verifyStructure(read) { faults.append("\($0)") }
        try expect(faults.isEmpty, "verification finds \(faults)")
      }
      if random.oneIn(6) { readers.append((read, try plain.beginRead())) } else { read.end() }
      if random.oneIn(10) { engines[i] = try open() }
    }
    expected.end()
    if !readers.isEmpty {
      let reader = readers[random.below(readers.count)]
      try compare(reader.real, reader.plain, "a snapshot of \(reader.real.version)")
    }
    while readers.count > 4 {
      let reader = readers.remove(at: random.below(readers.count))
      reader.real.end()
      reader.plain.end()
    }
  }

  mutating func compare(_ real: any StorageReading, _ plain: any StorageReading, _ place: String) throws {
    guard let table = plain.catalog["Item"] else { throw ConformanceFailure("there is no table") }
    // In any order: what was asked before decides how the next is answered.
    if random.oneIn(2) { try compareSome(real, plain, table) }
    for index in table.indexes.shuffled(using: &random) {
      let names = index.properties.compactMap { table[$0]?.schema.name }
      for descending in [false, true] where !random.oneIn(3) {
        try expectEqual(
          try real.allKeys(in: index.id, descending: descending), try plain.allKeys(in: index.id, descending: descending),
          "\(place): the index of \(names)\(descending ? " from its end" : "")")
      }
      try expectEqual(try real.count(in: index.id, .all), try plain.count(in: index.id, .all), "\(place): the entries of \(names)")
    }
    try compareSome(real, plain, table)
  }

  /// Look-ups, counts, ranges that are read to their end or not, and backlinks.
  mutating func compareSome(_ real: any StorageReading, _ plain: any StorageReading, _ table: TableEntry) throws {
    let (id, group, code) = (table.index("id"), table.index("group"), table.index("code"))
    for _ in 0..<6 {
      let number = Int64(random.below(650)) - 50
      try expectEqual(try real.key(in: id, equalTo: number), try plain.key(in: id, equalTo: number), "the object of \(number)")
      try expectEqual(try real.key(in: id, equal: [.int(number)]), try plain.key(in: id, equalTo: number), "the one of \(number)")
      let few = Int64(random.below(7))
      try expectEqual(try real.count(in: group, equalTo: few), try plain.count(in: group, equalTo: few), "how many have \(few)")
      let text = Value.string("c\(random.below(400))")
      try expectEqual(try real.key(in: code, equal: [text]), try plain.key(in: code, equal: [text]), "the object of \(text)")
      guard let index = table.indexes.randomElement(using: &random), let name = table[index.properties[0]]?.schema.name else { return }
      let (a, b) = (try value(name, plain, table), try value(name, plain, table))
      let ranges = [
        IndexRange(equal: [a]), IndexRange(lower: .including(a)), IndexRange(upper: .excluding(b)),
        IndexRange(lower: .excluding(a), upper: .including(b)),
      ]
      let range = ranges[random.below(ranges.count)]
      let (most, descending) = (random.oneIn(3) ? 1 + random.below(5) : Int.max, random.oneIn(2))
      try expectEqual(
        try first(most, real, index.id, range, descending), try first(most, plain, index.id, range, descending),
        "the index of \(name) in \(range)\(descending ? " descending" : "")")
      try expectEqual(try real.count(in: index.id, range), try plain.count(in: index.id, range), "the count of \(name) in \(range)")
      guard let target = try anyKey(plain, table) else { continue }
      for name in ["next", "others"] {
        let column = table.column(named: name)
        try expectEqual(
          try real.allSources(of: target, through: column), try plain.allSources(of: target, through: column), "\(name) to \(target)")
      }
    }
  }

  private func first(
    _ count: Int, _ read: any StorageReading, _ index: IndexID, _ range: IndexRange, _ descending: Bool
  ) throws -> [Int64] {
    var found: [Int64] = []
    try read.keys(in: index, range, descending: descending) { keys in
      found += keys
      return found.count >= count ? .stop : .proceed
    }
    return Array(found.prefix(count))
  }
}
