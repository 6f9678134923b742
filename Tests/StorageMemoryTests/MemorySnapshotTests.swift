import ColumnStore
import StorageInterface
import StoreValues
import Testing

@testable import StorageMemory

@Suite struct MemorySnapshotTests {
  @Test func anEndedSnapshotReadsNothingAndHoldsNoVersion() throws {
    let store = MemoryStore(pageSize: 4_096)
    let writer = try store.acquireWriter(.never)
    var batch = KeyValueBatch(version: Version(1))
    [1 as UInt8].withUnsafeBytes { batch.append(key: $0, value: ValueBuffer([7])) }
    try writer.apply(batch, .full)
    writer.end()
    let snapshot = try store.beginSnapshot()
    let key: [UInt8] = [1]
    func value() -> Result<UInt8?, StorageError> {
      key.withUnsafeBytes { key in Result { () throws(StorageError) in try snapshot.value(for: key)?.first } }
    }
    #expect(try value().get() == 7)
    snapshot.end()
    snapshot.end()
    #expect(throws: StorageError.self) { try value().get() }
    #expect(try store.statistics().pins.isEmpty)
  }

  @Test func anEndedSnapshotLetsGoOfItsVersionThoughSomebodyRefersToIt() throws {
    let store = MemoryStore(pageSize: 4_096)
    let writer = try store.acquireWriter(.never)
    weak var first: ValueBuffer?
    func put(_ version: UInt64) throws {
      let value = ValueBuffer([UInt8](repeating: 7, count: 100))
      if version == 1 { first = value }
      var batch = KeyValueBatch(version: Version(version))
      [1 as UInt8].withUnsafeBytes { batch.append(key: $0, value: value) }
      try writer.apply(batch, .full)
    }
    try put(1)
    let snapshot = try store.beginSnapshot()
    try put(2)
    #expect(first != nil)
    snapshot.end()
    #expect(first == nil)
    withExtendedLifetime(snapshot) {}
  }
}
