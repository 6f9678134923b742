import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// Types and properties that get names which others have given up, or had in another case.
@Suite struct RenamingTests {
  @Test func aNameThatAnotherGivesUpCanBeTaken() throws {
    let place = Place()
    let engine = try place.open()
    let catalog = try engine.adopt(
      Schema([
        ObjectSchema("Later", .scalar("number", .int64)), ObjectSchema("small", .scalar("number", .int64)),
        ObjectSchema("Thing", .scalar("first", .int64), .scalar("second", .int64), .list("Words", of: .string)),
      ]))
    let (later, thing) = (try #require(catalog["Later"]), try #require(catalog["Thing"]))
    try engine.write { write in
      try write.insert(later, ["number": .int(7)])
      try write.insert(try #require(catalog["small"]), ["number": .int(8)])
      let key = try write.insert(thing, ["first": .int(1), "second": .int(2)])
      try write.edit(thing.column(named: "Words"), key, .insert(at: 0, [.string("word")]))
    }
    // In the file, each name is still another's when its turn comes by the order of types and properties.
    var other = ObjectSchema("Other", .scalar("second", .int64), .scalar("third", .int64), .list("words", of: .string))
    other.renames = [
      PropertyRename(from: "second", to: "third"), PropertyRename(from: "first", to: "second"), PropertyRename(from: "Words", to: "words"),
    ]
    let schema = Schema([ObjectSchema("THING", .scalar("number", .int64)), ObjectSchema("Small", .scalar("number", .int64)), other])
    try engine.write { write in
      let names = ["Later": "THING", "Thing": "Other", "small": "Small"]
      let migration = try write.catalog.migrating(to: schema, renamedTypes: names)
      try write.setCatalog(migration.finished)
    }
    let read = try engine.beginRead()
    defer { read.end() }
    let (moved, made) = (try #require(read.catalog["THING"]), try #require(read.catalog["Other"]))
    #expect(moved.id == later.id && made.id == thing.id)
    #expect(try read.value(moved.column(named: "number"), ObjectKey(1)) == .int(7))
    let small = try #require(read.catalog["Small"])
    #expect(try read.value(small.column(named: "number"), ObjectKey(1)) == .int(8))
    #expect(try read.value(made.column(named: "second"), ObjectKey(1)) == .int(1))
    #expect(try read.value(made.column(named: "third"), ObjectKey(1)) == .int(2))
    #expect(try read.values(made.column(named: "words"), ObjectKey(1), 0..<5) == [.string("word")])
  }

  /// SQLite tells names apart by more than their case.
  @Test func theNameOfWhatIsRemovedCanBeTaken() throws {
    let place = Place()
    let engine = try place.open()
    let catalog = try engine.adopt(
      Schema([ObjectSchema("Thing", .list("Words", of: .string), .list("texts", of: .string), .scalar("A", .int64), .scalar("b", .int64))]))
    let thing = try #require(catalog["Thing"])
    try engine.write { write in
      let key = try write.insert(thing, ["A": .int(1), "b": .int(2)])
      try write.edit(thing.column(named: "Words"), key, .insert(at: 0, [.string("old")]))
      try write.edit(thing.column(named: "texts"), key, .insert(at: 0, [.string("kept")]))
    }
    var renamed = ObjectSchema("Thing", .list("words", of: .string), .scalar("a", .int64))
    renamed.renames = [PropertyRename(from: "texts", to: "words"), PropertyRename(from: "b", to: "a")]
    try engine.write { write in
      let migration = try write.catalog.migrating(to: Schema([renamed]))
      try write.setCatalog(migration.finished)
    }
    let read = try engine.beginRead()
    defer { read.end() }
    let left = try #require(read.catalog["Thing"])
    #expect(try read.values(left.column(named: "words"), ObjectKey(1), 0..<5) == [.string("kept")])
    #expect(try read.value(left.column(named: "a"), ObjectKey(1)) == .int(2))
  }
}
