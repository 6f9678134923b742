import Foundation
import StorageInterface
import StorageLMDB
import StoreValues
import Testing
import VivariumTestSupport

/// Numbers in the file that lead a write astray are typed errors.
struct LMDBDamageTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// A store with a table of so many objects.
  private func make(_ path: String, _ count: Int) throws -> TableEntry {
    let engine = try LMDBBackend(path: path).open(OpenOptions())
    defer { engine.close() }
    let table = try #require(try engine.adopt(Schema([ObjectSchema("Pup", .scalar("age", .int64))]))["Pup"])
    try engine.write(.full) { write in for i in 0..<count { try write.insert(table, ["age": .int(Int64(i))]) } }
    return table
  }

  /// Writes another object count into the record of the table, in every version of it that is in the file.
  private func set(count: UInt64, in path: String, from old: UInt64) throws {
    func bytes(_ number: UInt64) -> Data { withUnsafeBytes(of: number.littleEndian) { Data($0) } }
    var data = try Data(contentsOf: URL(fileURLWithPath: path))
    let record = bytes(old + 1) + bytes(old)
    var from = data.startIndex
    var hits = 0
    while let range = data.range(of: record, in: from..<data.endIndex) {
      data.replaceSubrange(range, with: bytes(old + 1) + bytes(count))
      from = range.upperBound
      hits += 1
    }
    try #require(hits > 0)
    try data.write(to: URL(fileURLWithPath: path))
  }

  @Test func aTableThatCountsTooFewCannotCommitADelete() throws {
    let path = scratch.file("a")
    let table = try make(path, 0x1234)
    try set(count: 0, in: path, from: 0x1234)
    let engine = try LMDBBackend(path: path).open(OpenOptions())
    let write = try engine.beginWrite(.never)
    try write.delete(table.id, ObjectKey(1))
    let refused = #expect(throws: StorageError.self) { try write.commit(CommitRecord(), .full) }
    #expect(refused?.code == .corrupt)
    write.end()
    #expect(try engine.beginRead().contains(table.id, ObjectKey(1)))
  }

  @Test func aTableThatCountsMoreThanThereCanBeIsDamaged() throws {
    let path = scratch.file("a")
    let table = try make(path, 0x1234)
    try set(count: 1 << 62, in: path, from: 0x1234)
    let engine = try LMDBBackend(path: path).open(OpenOptions())
    let read = try engine.beginRead()
    let refused = #expect(throws: StorageError.self) { try read.count(table.id) }
    #expect(refused?.code == .corrupt)
  }
}
