import StorageInterface
import StorageMemory
import StoreValues

@testable import ColumnStore

extension MemoryStore {
  /// A store as builds have made it that put fresh rows into indexes.
  static func ofOlderFormat(_ format: Int = 1, pageSize: Int = 4_096) throws -> MemoryStore {
    let store = MemoryStore(pageSize: pageSize)
    let header = FileHeader(pageSize: store.traits.pageSize, pageOverhead: store.traits.pageOverhead)
    try store.set(header: header.encoded(format: format))
    return store
  }
}

extension KeyValueStore {
  /// Puts another header, in a version of its own if there is one already.
  func set(header: ValueBuffer) throws {
    let writer = try acquireWriter(.never)
    defer { writer.end() }
    let version = try latestVersion()
    var batch = KeyValueBatch(version: version == Version(0) ? version : version.next)
    batch.put(.header, header)
    if version != Version(0) { batch.put(.history(version.next.rawValue), ValueBuffer(CommitRecord().encoded())) }
    batch.sort()
    try writer.apply(batch, .relaxed)
  }

  /// The format that the header names.
  func format() throws -> Int {
    let snapshot = try beginSnapshot()
    defer { snapshot.end() }
    let bytes = try EntryKey.header.withBytes { key throws(StorageError) in try snapshot.value(for: key) }
    guard let bytes else { return 0 }
    return try FileHeader(bytes).format
  }
}

extension StorageReading {
  /// The objects of a run of an index.
  func found(in index: IndexID, _ range: IndexRange) throws -> [Int64] {
    var result: [Int64] = []
    try keys(in: index, range, descending: false) { keys in
      result += keys
      return .proceed
    }
    return result
  }
}
