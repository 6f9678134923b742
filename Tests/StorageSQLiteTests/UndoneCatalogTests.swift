import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// Catalog changes that are undone with their savepoint.
@Suite struct UndoneCatalogTests {
  @Test func aTypeThatASavepointMadeAndUndidIsNotCounted() throws {
    let place = Place()
    let engine = try place.open()
    let old = ObjectSchema("Film", .scalar("minutes", .int64))
    try engine.adopt(Schema([old]))
    try engine.write { write in
      try write.beginSavepoint()
      try write.setCatalog(try write.catalog.adopting(Schema([old, ObjectSchema("Actor", .scalar("year", .int64))])).catalog)
      try write.insert(try #require(write.catalog["Actor"]))
      try write.rollbackToSavepoint()
      try write.insert(try #require(write.catalog["Film"]))
    }
    let read = try engine.beginRead()
    defer { read.end() }
    #expect(read.catalog["Actor"] == nil)
    #expect(try read.count(try #require(read.catalog["Film"]).id) == 1)
  }
}
