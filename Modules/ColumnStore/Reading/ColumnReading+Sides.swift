import StorageInterface
import StoreValues

extension ColumnRead {
  func side(_ key: [UInt8], _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError) {
    try checkOpen()
    try SideKey.check(key)
    beginLending()
    defer { endLending() }
    body(try storedSide(key))
  }

  func sides(
    from start: [UInt8], below end: [UInt8]?, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    try checkOpen()
    beginLending()
    defer { endLending() }
    try storedSides(from: start, below: end, body)
  }
}

extension ColumnReading {
  /// The value in the snapshot. A store without side entries is not searched.
  final func storedSide(_ key: [UInt8]) throws(StorageError) -> UnsafeRawBufferPointer? {
    guard catalog.hasSideEntries else { return nil }
    return try key.lendSide { key throws(StorageError) in try snapshot.value(for: key) }
  }

  final func storedSides(
    from start: [UInt8], below end: [UInt8]?, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    guard catalog.hasSideEntries else { return }
    // Without an end: above all keys of the space.
    let end = end.map { [EntryKey.Space.side.rawValue] + $0 } ?? [EntryKey.Space.side.rawValue + 1]
    try start.lendSide { start throws(StorageError) in
      try end.lend { end throws(StorageError) in
        try snapshot.visit(from: start, sharing: 1, reverse: false) { key, value in
          if compareBytes(key, end) >= 0 { return .stop }
          return body(UnsafeRawBufferPointer(rebasing: key[1...]), value)
        }
      }
    }
  }
}

extension Array where Element == UInt8 {
  /// Lends the bytes as a side entry's key.
  func lendSide<R, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> R) throws(E) -> R {
    try ([EntryKey.Space.side.rawValue] + self).lend(body)
  }
}
