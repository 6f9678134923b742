import ColumnStore
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

  /// Writes another object count into the record of the table, by the way of all commits: with a right checksum.
  private func set(count: UInt64, of table: TableEntry, in path: String) throws {
    let store = try LMDBStore(path: path)
    defer { store.close() }
    let key: [UInt8] = [3, 0, UInt8(table.id.rawValue)]
    let snapshot = try store.beginSnapshot()
    defer { snapshot.end() }
    let found = try key.withUnsafeBytes { try snapshot.value(for: $0) }
    var record = Array(try #require(found))
    withUnsafeBytes(of: count.littleEndian) { record.replaceSubrange(8..<16, with: $0) }
    var batch = KeyValueBatch(version: Version(snapshot.version.rawValue + 1))
    key.withUnsafeBytes { batch.append(key: $0, value: ValueBuffer(record)) }
    let writer = try store.acquireWriter(.never)
    defer { writer.end() }
    try writer.apply(batch, .full)
  }

  @Test func aTableThatCountsTooFewCannotCommitADelete() throws {
    let path = scratch.file("a")
    let table = try make(path, 0x1234)
    try set(count: 0, of: table, in: path)
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
    try set(count: 1 << 62, of: table, in: path)
    let engine = try LMDBBackend(path: path).open(OpenOptions())
    let read = try engine.beginRead()
    let refused = #expect(throws: StorageError.self) { try read.count(table.id) }
    #expect(refused?.code == .corrupt)
    let message = refused?.message ?? ""
    #expect(message.contains("a record of 'Pup'") && message.contains(path), "\(message)")
  }
}
