import Foundation
import StorageInterface
import StorageLMDB
import StorageMemory
import StorageReference
import StorageSQLite
import StoreInspection
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct CopyHistoryTests {
  private func records(_ engine: any StorageEngine, after version: UInt64) throws -> [[TableChange]] {
    let read = try engine.beginRead()
    defer { read.end() }
    var records: [[TableChange]] = []
    try read.history(after: Version(version)) { record in
      records.append(record.tables)
      return .proceed
    }
    return records
  }

  @Test func aCopyHasEveryRecordThatTheSourceKeeps() throws {
    let source = try ReferenceBackend(name: nil, seed: 3).open(OpenOptions(historyLimit: 10))
    let table = try #require(try source.adopt(Schema([ObjectSchema("Pup", .scalar("name", .string))]))["Pup"])
    for number in 1...30 {
      var record = CommitRecord()
      record.tables = [TableChange(table: table.id, inserted: KeyRuns([Int64(number)]))]
      try source.write(record: record) { try $0.insert(table, ["name": .string("\(number)")]) }
    }
    let target = try ReferenceBackend(name: nil, seed: 4).open(OpenOptions())
    try StoreCopy.copy(source, to: target)
    #expect(try target.latestVersion() == Version(31))
    let kept = try records(source, after: 21)
    #expect(kept.count == 10)
    #expect(try records(target, after: 21) == kept)
  }

  @Test func aCopyHasNoSideEntries() throws {
    let source = try MemoryBackend().open(OpenOptions())
    try source.adopt(Schema([ObjectSchema("Pup", .scalar("name", .string))]))
    try source.write { try #require($0.writePowers.sides).setSide([1], [1]) }
    let target = try MemoryBackend().open(OpenOptions())
    try StoreCopy.copy(source, to: target)
    let read = try target.beginRead()
    defer { read.end() }
    #expect(read.catalog["Pup"] != nil && !read.catalog.hasSideEntries)
    #expect(try #require(read.powers.sides).side([1]) == nil)
  }

  @Test(arguments: ["lmdb", "sqlite", "memory"]) func aCopyIsOneCommitHoweverManyVersionsThereWere(_ kind: String) throws {
    let source = try MemoryBackend().open(OpenOptions(historyLimit: 10))
    let table = try #require(try source.adopt(Schema([ObjectSchema("Pup", .scalar("name", .string))]))["Pup"])
    for number in 1...300 {
      var record = CommitRecord()
      record.tables = [TableChange(table: table.id, inserted: KeyRuns([Int64(number)]))]
      try source.write(record: record) { try $0.insert(table, ["name": .string("\(number)")]) }
    }
    let folder = TemporaryDirectory("copy")
    let path = folder.file("copy").path
    let backend: any StorageBackend =
      switch kind {
      case "lmdb": LMDBBackend(path: path)
      case "sqlite": SQLiteBackend(path: path)
      default: MemoryBackend()
      }
    let target = try backend.open(OpenOptions())
    try StoreCopy.copy(source, to: target)
    #expect(try target.latestVersion() == Version(301))
    let read = try target.beginRead()
    #expect(try read.count(table.id) == 300)
    let kept = try records(source, after: 291)
    #expect(kept.count == 10)
    #expect(try records(target, after: 291) == kept)
    // A commit for each version before would have left a record of it.
    let trimmed = #expect(throws: StorageError.self) { try read.history(after: Version(290)) { _ in .stop } }
    #expect(trimmed?.code == .historyTrimmed)
    read.end()
    target.close()
  }
}
