import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// A file has the table of side entries from the first of them on, and an older build refuses it from then on.
@Suite struct SideTableTests {
  private let place = Place()

  private func number(_ text: String) throws -> Int { try #require(try Raw(place.path).rows(text).first.flatMap { Int($0) }) }

  private func tables() throws -> Int { try number("SELECT count(*) FROM sqlite_master WHERE name = '_vivarium_side'") }

  private func format() throws -> Int { try number("PRAGMA user_version") }

  @Test func aStoreWithoutSideEntriesHasNoTableAndAsksNothing() throws {
    let engine = try place.open()
    let table = try #require(try engine.adopt(.everything)["Thing"])
    func prepared(_ body: (any SideWriting) throws -> Void) throws -> Int {
      let write = try engine.beginWrite(.never)
      defer { write.end() }
      let before = SQLiteEngine.prepareCount(of: write)
      try body(try #require(write.writePowers.sides))
      let after = SQLiteEngine.prepareCount(of: write)
      _ = try write.insert(table, ["id": .int(Int64(write.version.rawValue))])
      _ = try write.commit(CommitRecord(), .relaxed)
      return after - before
    }
    let asked = try prepared { sides in
      #expect(try sides.side([1]) == nil)
      try sides.setSide([1], nil)
      try sides.sides(from: [], below: nil) { _, _ in .proceed }
    }
    #expect(asked == 0)
    let before = try format()
    #expect(try tables() == 0 && before < 5)
    _ = try prepared { try $0.setSide([1], [1]) }
    #expect(try tables() == 1 && format() == 5)
    // One statement, kept.
    #expect(try prepared { try $0.setSide([1], [2]) } <= 1)
    #expect(try prepared { try $0.setSide([1], [3]) } == 0)
  }

  @Test func anUndoneFirstEntryLeavesNoTable() throws {
    let engine = try place.open()
    try engine.adopt(.everything)
    try engine.write { write in
      try write.beginSavepoint()
      try #require(write.writePowers.sides).setSide([1], [1])
      try write.rollbackToSavepoint()
    }
    #expect(try tables() == 0 && format() < 5)
  }
}
