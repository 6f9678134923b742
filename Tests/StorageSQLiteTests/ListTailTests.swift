import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// Appending to a list looks at its end alone, and the end is known from one write to the next.
@Suite struct ListTailTests {
  private func texts(_ range: Range<Int>) -> [Value] { range.map { .string("\($0)") } }

  /// An object with a list of that many texts.
  private func object(
    in place: Place, words count: Int
  ) throws -> (engine: SQLiteEngine, table: TableEntry, words: ColumnID, owner: ObjectKey) {
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    let words = table.column(named: "words")
    var owner = ObjectKey(0)
    try engine.write { write in
      owner = try write.insert(table, ["id": .int(1)])
      try write.edit(words, owner, .insert(at: 0, texts(0..<count)))
    }
    return (engine, table, words, owner)
  }

  @Test func appendingReadsNoPositions() throws {
    let place = Place()
    let (engine, table, words, owner) = try object(in: place, words: 500)
    var counts: [Int] = []
    for i in 500..<510 {
      let write = try engine.beginWrite(.never)
      #expect(try write.elementCount(words, owner) == i)
      try write.edit(words, owner, .insert(at: i, texts(i..<i + 1)))
      #expect(try write.elementCount(words, owner) == i + 1)
      #expect(SQLiteEngine.positionCount(of: write) == 0)
      counts.append(SQLiteEngine.useCount(of: write))
      _ = try write.commit(CommitRecord(), .relaxed)
    }
    // The same statements each time, whatever the length.
    #expect(Set(zip(counts.dropFirst(2), counts.dropFirst()).map { $0 - $1 }).count == 1)
    #expect(try engine.beginRead().values(words, owner, 0..<600) == texts(0..<510))
    let write = try engine.beginWrite(.never)
    #expect(throws: StorageError.self) { try write.edit(words, owner, .insert(at: 511, texts(0..<1))) }
    try write.delete(table.id, owner)
    let deleted = #expect(throws: StorageError.self) { try write.edit(words, owner, .insert(at: 510, texts(0..<1))) }
    #expect(deleted?.code == .objectDeleted)
  }

  /// Such a program makes no version, and nothing is logged.
  @Test func whatAProgramAppendedBehindTheTriggersIsNotOverlooked() throws {
    let place = Place()
    let (engine, _, words, owner) = try object(in: place, words: 1)
    try Raw(place.path).execute(
      "DROP TRIGGER \"_vivarium 1 words insert\"; INSERT INTO \"Thing.words\" VALUES (\(owner.rawValue), 99999999999, '1')")
    try engine.write { write in
      #expect(try write.elementCount(words, owner) == 2)
      try write.edit(words, owner, .insert(at: 2, texts(2..<3)))
    }
    #expect(try engine.beginRead().values(words, owner, 0..<9) == texts(0..<3))
  }

  @Test func countingAListLoadsNoPositions() throws {
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    let words = table.column(named: "words")
    try engine.write { write in
      for id in 1...3 {
        let owner = try write.insert(table, ["id": .int(Int64(id))])
        try write.edit(words, owner, .insert(at: 0, texts(0..<id * 100)))
      }
    }
    let read = try engine.beginRead()
    for round in 0..<2 {
      let before = SQLiteEngine.useCount(of: read)
      for id in 1...3 { #expect(try read.elementCount(words, ObjectKey(Int64(id))) == id * 100) }
      // Known from the second time on.
      if round == 1 { #expect(SQLiteEngine.useCount(of: read) == before) }
    }
    #expect(SQLiteEngine.positionCount(of: read) == 0)
    let missing = #expect(throws: StorageError.self) { try read.elementCount(words, ObjectKey(9)) }
    #expect(missing?.code == .objectDeleted)
    // In a write every edit counts anew.
    let write = try engine.beginWrite(.never)
    #expect(try write.elementCount(words, ObjectKey(2)) == 200)
    try write.edit(words, ObjectKey(2), .remove(10..<20))
    #expect(try write.elementCount(words, ObjectKey(2)) == 190)
    try write.edit(words, ObjectKey(2), .clear)
    #expect(try write.elementCount(words, ObjectKey(2)) == 0)
  }

  @Test func whateverHappensInBetweenTheEndIsTheRightOne() throws {
    var random = SeededGenerator.forTest()
    let place = Place()
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    let words = table.column(named: "words")
    try engine.write { write in for id in 1...2 { try write.insert(table, ["id": .int(Int64(id))]) } }
    var lists: [Int: [Value]] = [1: [], 2: []]
    var next = 0
    func edit(_ write: any WriteTransaction, _ lists: inout [Int: [Value]]) throws {
      let id = 1 + random.below(2)
      var list = lists[id] ?? []
      next += 1
      let new = [Value.string("\(next)"), .string("\(next)b")].prefix(1 + random.below(2))
      let (owner, at) = (ObjectKey(Int64(id)), random.below(list.count + 1))
      switch random.below(10) {
      case 0 where !list.isEmpty:
        let end = min(list.count, at + 2)
        try write.edit(words, owner, .remove(at..<end))
        list.removeSubrange(at..<end)
      case 1:
        try write.edit(words, owner, .insert(at: at, Array(new)))
        list.insert(contentsOf: new, at: at)
      case 2 where random.oneIn(5):
        try write.edit(words, owner, .clear)
        list = []
      default:
        try write.edit(words, owner, .insert(at: list.count, Array(new)))
        list += new
      }
      lists[id] = list
      #expect(try write.elementCount(words, owner) == list.count)
    }
    for _ in 0..<150 {
      var edited = lists
      let write = try engine.beginWrite(.never)
      for _ in 0..<1 + random.below(3) { try edit(write, &edited) }
      if random.oneIn(4) {
        var undone = edited
        try write.beginSavepoint()
        try edit(write, &undone)
        try write.rollbackToSavepoint()
        try edit(write, &edited)
      }
      if random.oneIn(5) {
        write.end()
        continue
      }
      _ = try write.commit(CommitRecord(), .relaxed)
      lists = edited
      if random.oneIn(6) {
        // Another program adds at the end.
        try Raw(place.path).execute(
          "INSERT INTO \"Thing.words\" SELECT 1, coalesce(max(position), 0) + 5, 'foreign' FROM \"Thing.words\" WHERE owner = 1")
        lists[1]?.append(.string("foreign"))
      }
      let read = try engine.beginRead()
      for (id, list) in lists { #expect(try read.values(words, ObjectKey(Int64(id)), 0..<5_000) == list) }
      read.end()
    }
  }
}
