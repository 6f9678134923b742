import Foundation
import StorageInterface
import StorageMemory
import StorageSQLite
import StoreInspection
import StoreValues
import Testing
import VivariumTestSupport

/// What the commands make of an index of words.
@Suite struct TextIndexTests {
  private static let schema = Schema([
    ObjectSchema("Note", .scalar("number", .int64, primaryKey: true), .scalar("body", .string, optional: true, fullText: true))
  ])

  private func fill(_ engine: any StorageEngine) throws {
    let catalog = try engine.adopt(TextIndexTests.schema)
    let table = try #require(catalog["Note"])
    try engine.write { write in
      for (number, body) in ["A live database", "日本語", "", "live, live, live"].enumerated() {
        try write.insert(table, ["number": .int(Int64(number)), "body": .string(body)])
      }
      try write.insert(table, ["number": .int(9)])
    }
  }

  private func verified(_ engine: any StorageEngine) throws -> String {
    let output = StringOutput()
    try Inspector(engine, location: "test", format: .table, output: output).verify()
    return output.text
  }

  @Test func aSoundIndexOfWordsIsLookedAt() throws {
    let engine = try MemoryBackend().open(OpenOptions())
    defer { engine.close() }
    try fill(engine)
    #expect(try verified(engine).contains("5 objects, 2 indexes, 0 links looked at; no faults"))
  }

  @Test func whereNoneIsKeptThereIsNoneToLookAt() throws {
    let folder = TemporaryDirectory("texts")
    let engine = try SQLiteBackend(path: folder.file("notes.sqlite").path).open(OpenOptions())
    defer { engine.close() }
    try fill(engine)
    #expect(try verified(engine).contains("5 objects, 1 indexes, 0 links looked at; no faults"))
  }
}
