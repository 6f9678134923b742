import StoreValues

/// What one commit changes: puts and deletes in ascending order of key, each key once.
///
/// A put replaces the value the key has or makes a new entry; deleting a key that is not there is no error.
/// Keys lie in one buffer and values are shared, so a batch of thousands costs few allocations.
public struct KeyValueBatch: Sendable {
  private struct Entry: Sendable {
    var keyStart: Int
    var keyCount: Int
    var value: ValueBuffer?
  }

  /// The version that the store has once the batch is applied.
  public let version: Version
  private var keys: [UInt8] = []
  private var entries: [Entry] = []

  public init(version: Version) { self.version = version }

  public var count: Int { entries.count }

  /// Bytes of all values and keys.
  public var byteCount: Int { entries.reduce(keys.count) { $0 + ($1.value?.count ?? 0) } }

  /// Adds a put, or a delete when `value` is nil. In any order; `sort()` follows.
  public mutating func append(key: UnsafeRawBufferPointer, value: ValueBuffer?) {
    entries.append(Entry(keyStart: keys.count, keyCount: key.count, value: value))
    keys.append(contentsOf: key)
  }

  /// Puts the entries in the order of their keys. The caller sees to it that no key comes twice. O(n log n),
  /// O(n) when they are in order already.
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

  /// Each entry in order: its key, and its value or nil for a delete. The key is lent for the call; a value
  /// may be kept. Stops at the first error and passes it on.
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

  /// As `forEach`, but lets go of each value once `body` is done with it: a large batch shrinks while it is written, so
  /// that it and a store's copy of it are never both whole in memory.
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
