import ColumnStore
import StorageInterface
import StorageLMDB
import StoreValues

/// Text in and out of a key-value store, for tests.
extension LMDBStore {
  /// Commits entries as one version, a nil value as a delete.
  func put(
    _ entries: [(String, String?)], _ version: UInt64, _ durability: Durability = .relaxed
  ) throws(StorageError) {
    let writer = try acquireWriter(.never)
    defer { writer.end() }
    try writer.apply(KeyValueBatch(entries, version), durability)
  }

  func text(_ key: String) throws(StorageError) -> String? {
    let snapshot = try beginSnapshot()
    defer { snapshot.end() }
    return try snapshot.text(key)
  }
}

extension KeyValueBatch {
  init(_ entries: [(String, String?)], _ version: UInt64) {
    self.init(version: Version(version))
    for (key, value) in entries {
      Array(key.utf8).withUnsafeBytes { append(key: $0, value: value.map { ValueBuffer(Array($0.utf8)) }) }
    }
    sort()
  }
}

extension KeyValueSnapshot {
  func text(_ key: String) throws(StorageError) -> String? {
    let bytes = Array(key.utf8)
    var found: UnsafeRawBufferPointer?
    var failure: StorageError?
    bytes.withUnsafeBytes { key in
      do throws(StorageError) { found = try value(for: key) } catch { failure = error }
    }
    if let failure { throw failure }
    return found.map { String(decoding: $0, as: UTF8.self) }
  }

  /// The keys from a start on.
  func keys(from start: String, reverse: Bool = false, max: Int = .max) throws(StorageError) -> [String] {
    var result: [String] = []
    var failure: StorageError?
    Array(start.utf8).withUnsafeBytes { start in
      do throws(StorageError) {
        try visit(from: start, sharing: 0, reverse: reverse) { key, _ in
          result.append(String(decoding: key, as: UTF8.self))
          return result.count < max ? .proceed : .stop
        }
      } catch { failure = error }
    }
    if let failure { throw failure }
    return result
  }
}
