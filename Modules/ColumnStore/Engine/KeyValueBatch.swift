import StoreValues

/// The changes of one commit: puts and deletes in ascending key order, each key once.
///
/// A put replaces the key's value or adds an entry; deleting a missing key is not an error. Keys are in one buffer and values
/// are shared, so a batch of thousands needs few allocations.
public struct KeyValueBatch: Sendable {
  private struct Entry: Sendable {
    var keyStart: Int
    var keyCount: Int
    var value: ValueBuffer?
  }

  /// The store's version after the batch.
  public let version: Version
  private var keys: [UInt8] = []
  private var entries: [Entry] = []

  public init(version: Version) { self.version = version }

  public var count: Int { entries.count }

  /// The total size of keys and values in bytes.
  public var byteCount: Int { entries.reduce(keys.count) { $0 + ($1.value?.count ?? 0) } }

  /// Adds a put, or a delete if `value` is nil. In any order; call `sort()` afterwards.
  public mutating func append(key: UnsafeRawBufferPointer, value: ValueBuffer?) {
    entries.append(Entry(keyStart: keys.count, keyCount: key.count, value: value))
    keys.append(contentsOf: key)
  }

  /// Sorts the entries by key. The caller guarantees that no key occurs twice. O(n log n), O(n) if already sorted.
  public mutating func sort() {
    keys.withUnsafeBytes { bytes in
      func slice(_ entry: Entry) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(rebasing: bytes[entry.keyStart..<entry.keyStart + entry.keyCount])
      }
      var isSorted = true
      for i in entries.indices.dropFirst() where compareBytes(slice(entries[i - 1]), slice(entries[i])) >= 0 {
        isSorted = false
        break
      }
      if !isSorted { entries.sort { compareBytes(slice($0), slice($1)) < 0 } }
    }
  }

  /// Calls `body` with each entry in order: its key, and its value or nil for a delete. The key is valid during the call; a
  /// value may be kept. Stops at the first error and rethrows it.
  public func forEach<E: Error>(
    _ body: (_ key: UnsafeRawBufferPointer, _ value: ValueBuffer?) throws(E) -> Void
  ) throws(E) {
    var failure: E?
    keys.withUnsafeBytes { bytes in
      for entry in entries {
        do throws(E) {
          try body(UnsafeRawBufferPointer(rebasing: bytes[entry.keyStart..<entry.keyStart + entry.keyCount]), entry.value)
        } catch {
          failure = error
          return
        }
      }
    }
    if let failure { throw failure }
  }

  /// As `forEach`, but releases each value after its call: a large batch shrinks while it is written, so that it and a store's
  /// copy are never both whole in memory.
  public mutating func drain<E: Error>(
    _ body: (_ key: UnsafeRawBufferPointer, _ value: ValueBuffer?) throws(E) -> Void
  ) throws(E) {
    var failure: E?
    keys.withUnsafeBytes { bytes in
      for i in entries.indices {
        let (start, count) = (entries[i].keyStart, entries[i].keyCount)
        do throws(E) {
          try body(UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]), entries[i].value)
        } catch {
          failure = error
          return
        }
        entries[i].value = nil
      }
    }
    if let failure { throw failure }
  }
}
