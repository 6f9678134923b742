import StorageInterface
import StoreValues

extension ColumnWrite {
  func side(_ key: [UInt8], _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError) {
    try checkOpen()
    try SideKey.check(key)
    beginLending()
    defer { endLending() }
    guard let edit = sideEdits?[key] else { return body(try storedSide(key)) }
    guard case .value(let value) = edit else { return body(nil) }
    withExtendedLifetime(value) { body(value.bytes) }
  }

  func sides(
    from start: [UInt8], below end: [UInt8]?, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    try checkOpen()
    beginLending()
    defer { endLending() }
    var edited = sideEdits?.edits(from: start, below: end) ?? []
    let edits = sideEdits
    var hasStopped = false
    /// Lends the write's entries before a key of the snapshot, or all that remain for nil.
    func lendEdits(before key: UnsafeRawBufferPointer?) {
      while !hasStopped, let next = edited.first {
        guard key.map({ bytes in next.lend { compareBytes($0, bytes) < 0 } }) ?? true else { return }
        edited.removeFirst()
        guard let value = edits?[next]?.value else { continue }
        withExtendedLifetime(value) { hasStopped = next.lend { body($0, value.bytes) } == .stop }
      }
    }
    try storedSides(from: start, below: end) { key, value in
      lendEdits(before: key)
      if hasStopped { return .stop }
      if edited.first.map({ next in next.lend { compareBytes($0, key) == 0 } }) ?? false { return .proceed }
      if body(key, value) == .stop { hasStopped = true }
      return hasStopped ? .stop : .proceed
    }
    lendEdits(before: nil)
  }

  func setSide(_ key: [UInt8], _ value: [UInt8]?) throws(StorageError) {
    try checkWritable()
    try SideKey.check(key)
    if !catalog.hasSideEntries {
      if value == nil { return }
      try setCatalog(catalog.withSideEntries())
    }
    if isRecordingUndo { undo.append(.side(key, old: sideEdits?[key])) }
    if sideEdits == nil { sideEdits = SideEdits() }
    sideEdits?.put(value.map { .value(ValueBuffer($0)) } ?? .removed, key)
  }
}
