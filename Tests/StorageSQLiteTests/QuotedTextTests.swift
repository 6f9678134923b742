import StorageInterface
import StorageSQLite
import StoreValues
import Testing
import VivariumTestSupport

/// Names and texts that stand in SQL between quotes, and have quotes in them: also such that are one character with a mark beside them.
@Suite struct QuotedTextTests {
  @Test(arguments: ["", "\u{301}", "\u{200D}", "\u{FE0F}", "\u{1F3FD}"], ["", "\u{600}"])
  func whatHasQuotesIsWhatItWasAndNoStatement(mark: String, sign: String) throws {
    let place = Place()
    let single = "a\(sign)'\(mark)), x); DROP TABLE \"Other\"; --"
    let double = "b\(sign)\"\(mark)); DROP TABLE \"Other\"; --"
    let schema = Schema([
      ObjectSchema("Other", .scalar("number", .int64)),
      ObjectSchema(single, .scalar("text", .string, default: .string(single)), .scalar("number", .int64)),
      ObjectSchema(double, .scalar(double, .string, indexed: true, default: .string(double)), .list(single, of: .string)),
    ])
    var engine = try place.open()
    let catalog = try engine.adopt(schema)
    try engine.write { write in
      try write.insert(try #require(catalog["Other"]), ["number": .int(7)])
      try write.insert(try #require(catalog[single]), ["number": .int(8), "text": .string(single)])
      let second = try #require(catalog[double])
      let key = try write.insert(second, [double: .string(double)])
      try write.edit(second.column(named: single), key, .insert(at: 0, [.string(single)]))
    }
    // A column that comes later, to a table with rows.
    engine.close()
    engine = try place.open()
    let later = Schema(
      schema.objects.map { type in
        type.name == "Other" ? ObjectSchema("Other", .scalar("number", .int64), .scalar("text", .string, default: .string(single))) : type
      })
    try engine.adopt(later)
    let read = try engine.beginRead()
    defer {
      read.end()
      engine.close()
    }
    let tables = (try #require(read.catalog["Other"]), try #require(read.catalog[single]), try #require(read.catalog[double]))
    #expect(try read.value(tables.0.column(named: "number"), ObjectKey(1)) == .int(7))
    #expect(try read.value(tables.0.column(named: "text"), ObjectKey(1)) == .string(single))
    #expect(try read.value(tables.1.column(named: "text"), ObjectKey(1)) == .string(single))
    #expect(try read.value(tables.2.column(named: double), ObjectKey(1)) == .string(double))
    #expect(try read.values(tables.2.column(named: single), ObjectKey(1), 0..<9) == [.string(single)])
  }
}
