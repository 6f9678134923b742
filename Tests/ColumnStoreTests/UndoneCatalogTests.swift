import StorageInterface
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

/// Catalog changes that are undone with their savepoint.
@Suite struct UndoneCatalogTests {
  /// A type and a property of one kind are made, filled and undone; then others, in the same places.
  @Test func whatASavepointMadeAndUndidIsNotTakenForWhatIsMadeThen() throws {
    let engine = try MemoryBackend().open(OpenOptions())
    let old = ObjectSchema("Film", .scalar("minutes", .int64))
    try engine.adopt(Schema([old]))
    func grow(_ write: any WriteTransaction, by property: PropertySchema) throws -> (film: TableEntry, actor: TableEntry) {
      var grown = old
      grown.properties.append(property)
      let schema = Schema([grown, ObjectSchema("Actor", property)])
      try write.setCatalog(try write.catalog.adopting(schema).catalog)
      return (try #require(write.catalog["Film"]), try #require(write.catalog["Actor"]))
    }
    var keys: [ObjectKey] = []
    try engine.write { write in
      try write.insert(try #require(write.catalog["Film"]), ["minutes": .int(141)])
      try write.beginSavepoint()
      let undone = try grow(write, by: .scalar("title", .string, optional: true))
      for table in [undone.film, undone.actor] { try write.insert(table, ["title": .string("Rio Bravo")]) }
      try write.rollbackToSavepoint()
      let made = try grow(write, by: .scalar("year", .int64, optional: true))
      keys = [try write.insert(made.film, ["year": .int(1959)]), try write.insert(made.actor, ["year": .int(1907)])]
    }
    let read = try engine.beginRead()
    defer { read.end() }
    let (film, actor) = (try #require(read.catalog["Film"]), try #require(read.catalog["Actor"]))
    #expect(try read.count(film.id) == 2)
    #expect(try read.count(actor.id) == 1)
    #expect(try read.value(film.column(named: "year"), ObjectKey(1)) == .null)
    #expect(try read.value(film.column(named: "year"), keys[0]) == .int(1959))
    #expect(try read.value(actor.column(named: "year"), keys[1]) == .int(1907))
  }

  @Test func anIndexThatASavepointDroppedHasTheEntriesOfBeforeWhenThatIsUndone() throws {
    let engine = try MemoryBackend().open(OpenOptions())
    let film = try #require(try engine.adopt(Schema([ObjectSchema("Film", .scalar("year", .int64, indexed: true))]))["Film"])
    let (index, range) = (film.index("year"), IndexRange(equal: [.int(1959)]))
    try engine.write { write in
      try write.insert(film, ["year": .int(1959)])
      try write.beginSavepoint()
      try write.setCatalog(try write.catalog.adopting(Schema([ObjectSchema("Film", .scalar("year", .int64))])).catalog)
      try write.rollbackToSavepoint()
      #expect(try write.count(in: index, range) == 1)
    }
    let read = try engine.beginRead()
    defer { read.end() }
    #expect(try read.count(in: index, range) == 1)
  }

  /// The fresh rows become a chunk while the index is not there.
  @Test(arguments: [5, 2_000]) func anIndexThatComesBackHasTheRowsThatWereFresh(_ inserted: Int) throws {
    let engine = try MemoryBackend().open(OpenOptions())
    let film = try #require(try engine.adopt(Schema([ObjectSchema("Film", .scalar("year", .int64, indexed: true))]))["Film"])
    let index = film.index("year")
    try engine.write { write in for year in 0..<20 { try write.insert(film, ["year": .int(Int64(year))]) } }
    try engine.write { write in
      try write.beginSavepoint()
      try write.setCatalog(try write.catalog.adopting(Schema([ObjectSchema("Film", .scalar("year", .int64))])).catalog)
      for _ in 0..<inserted { try write.insert(film, ["year": .int(7)]) }
      try write.rollbackToSavepoint()
      #expect(try write.count(in: index, .all) == 20)
    }
    let read = try engine.beginRead()
    defer { read.end() }
    for year in 0..<20 { #expect(try read.count(in: index, equalTo: Int64(year)) == 1) }
  }
}
