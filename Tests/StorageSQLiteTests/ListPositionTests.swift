import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// The positions of a long list are read once, whatever is committed meanwhile, as long as nobody else writes the file.
@Suite struct ListPositionTests {
  private func texts(_ range: Range<Int>) -> [Value] { range.map { .string("\($0)") } }

  /// An engine with a list of so many elements, known to nobody.
  private func makeList(_ count: Int, _ place: Place) throws -> (any StorageEngine, TableEntry, ColumnID) {
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    let words = table.column(named: "words")
    try engine.write { write in
      for id in 1...2 { try write.insert(table, ["id": .int(Int64(id))]) }
      try write.edit(words, ObjectKey(1), .insert(at: 0, texts(0..<count)))
    }
    return (engine, table, words)
  }

  @Test func editsInTheMiddleReadThemOnce() throws {
    let place = Place()
    let (engine, table, words) = try makeList(3_000, place)
    let owner = ObjectKey(1)
    for i in 0..<10 {
      try engine.write { write in
        try write.edit(words, owner, .remove(1_500..<1_501))
        try write.edit(words, owner, .insert(at: 20 + i, [.string("new \(i)")]))
        try write.edit(words, owner, .set(at: 2_000, .string("set \(i)")))
        try write.edit(words, owner, .move(from: 2_500, to: 100 + i))
      }
      // Whoever writes something else keeps them.
      try engine.write { try $0.set(table.column(named: "name"), ObjectKey(2), .string("name \(i)")) }
    }
    #expect(SQLiteEngine.positionsRead(by: engine) == 3_000)
    // What is not committed is forgotten.
    let write = try engine.beginWrite(.never)
    try write.edit(words, owner, .remove(0..<2_000))
    write.end()
    let read = try engine.beginRead()
    #expect(try read.elementCount(words, owner) == 3_000)
    #expect(try read.values(words, owner, 2_999..<3_001).count == 1)
    #expect(SQLiteEngine.positionsRead(by: engine) == 6_000)
  }

  @Test func readsInTheMiddleReadThemOnce() throws {
    let place = Place()
    let (engine, table, words) = try makeList(3_000, place)
    let owner = ObjectKey(1)
    for i in 0..<10 {
      try engine.write { try $0.set(table.column(named: "name"), ObjectKey(2), .string("name \(i)")) }
      let reads = [try engine.beginRead(), try engine.beginRead()]
      for read in reads {
        #expect(try read.elementCount(words, owner) == 3_000)
        #expect(try read.values(words, owner, 2_000..<2_002) == texts(2_000..<2_002))
        read.end()
      }
    }
    #expect(SQLiteEngine.positionsRead(by: engine) == 3_000)
    // An edit takes over what a read has found.
    try engine.write { try $0.edit(words, owner, .remove(10..<11)) }
    let read = try engine.beginRead()
    #expect(try read.elementCount(words, owner) == 2_999)
    #expect(try read.values(words, owner, 2_000..<2_002) == texts(2_001..<2_003))
    #expect(SQLiteEngine.positionsRead(by: engine) == 3_000)
  }

  @Test func whateverHappensInBetweenEveryReadFindsItsElements() throws {
    let place = Place()
    let (engine, table, words) = try makeList(200, place)
    var history = ListHistory(table: table, words: words, lists: [1: texts(0..<200), 2: []], random: .forTest())
    var kept: [(any ReadTransaction, [Int: [Value]])] = []
    for _ in 0..<environmentNumber("VIVARIUM_ROUNDS", default: 200) {
      let write = try engine.beginWrite(.never)
      let before = history.lists
      for _ in 0..<history.random.below(3) { try history.edit(write) }
      if history.random.oneIn(5) {
        let edited = history.lists
        try write.beginSavepoint()
        try history.edit(write)
        try history.check(write, history.lists)
        try write.rollbackToSavepoint()
        history.lists = edited
      }
      try history.check(write, history.lists)
      if history.random.oneIn(5) {
        write.end()
        history.lists = before
      } else {
        _ = try write.commit(CommitRecord(), .relaxed)
      }
      if history.random.oneIn(8) { try history.editElsewhere(place) }
      let read = try engine.beginRead()
      try history.check(read, history.lists)
      kept.append((read, history.lists))
      if kept.count > 3 {
        let (old, then) = kept.remove(at: history.random.below(kept.count))
        try history.check(old, then)
        old.end()
      }
    }
    for (read, _) in kept { read.end() }
  }
}

/// Random edits of two lists, and what they hold.
private struct ListHistory {
  let table: TableEntry
  let words: ColumnID
  var lists: [Int: [Value]]
  var random: SeededGenerator
  private var next = 0

  init(table: TableEntry, words: ColumnID, lists: [Int: [Value]], random: SeededGenerator) {
    (self.table, self.words, self.lists, self.random) = (table, words, lists, random)
  }

  mutating func edit(_ write: any WriteTransaction) throws {
    let ids = lists.keys.sorted()
    guard !ids.isEmpty else {
      // A list that went makes room for a new one with other positions.
      let key = try write.insert(table, ["id": .int(Int64(1_000 + next))]).rawValue
      lists[Int(key)] = []
      return next += 1
    }
    let id = ids[random.below(ids.count)]
    var list = lists[id] ?? []
    next += 1
    let new = (0...random.below(150)).map { Value.string("\(next) \($0)") }
    let (owner, at, count) = (ObjectKey(Int64(id)), random.below(list.count + 1), list.count)
    switch random.below(12) {
    case 0...3:
      let end = min(count, at + 1 + random.below(120))
      try write.edit(words, owner, .remove(at..<end))
      list.removeSubrange(at..<end)
    case 4 where count > 0:
      let (from, to) = (random.below(count), random.below(count))
      try write.edit(words, owner, .move(from: from, to: to))
      list.insert(list.remove(at: from), at: to)
    case 5 where random.oneIn(6):
      try write.delete(table.id, owner)
      lists[id] = nil
      return
    case 6:
      try write.edit(words, owner, .insert(at: count, new))
      list += new
    case 7 where count > 0:
      try write.edit(words, owner, .set(at: count - 1, new[0]))
      list[count - 1] = new[0]
    default:
      try write.edit(words, owner, .insert(at: at, new))
      list.insert(contentsOf: new, at: at)
    }
    lists[id] = list
  }

  /// Another program takes the first element of a list away, or adds one at its end.
  mutating func editElsewhere(_ place: Place) throws {
    guard let (id, list) = lists.sorted(by: { $0.key < $1.key }).first(where: { $0.value.count > 2 }) else { return }
    let isRemoval = random.oneIn(2)
    let positions = "FROM \"Thing.words\" WHERE owner = \(id)"
    try Raw(place.path).execute(
      isRemoval
        ? "DELETE \(positions) AND position = (SELECT min(position) \(positions))"
        : "INSERT INTO \"Thing.words\" SELECT \(id), max(position) + 5, 'foreign' \(positions)")
    lists[id] = isRemoval ? Array(list.dropFirst()) : list + [.string("foreign")]
  }

  /// Looks at a few elements of each list.
  mutating func check(_ read: any StorageReading, _ lists: [Int: [Value]]) throws {
    for (id, list) in lists.sorted(by: { $0.key < $1.key }) {
      let (owner, at) = (ObjectKey(Int64(id)), random.below(list.count + 1))
      if random.oneIn(2) { #expect(try read.elementCount(words, owner) == list.count) }
      #expect(try read.values(words, owner, at..<at + 5) == Array(list[at..<min(list.count, at + 5)]))
    }
  }
}
