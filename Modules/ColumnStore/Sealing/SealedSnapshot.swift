import StorageInterface
import StoreValues

/// A snapshot of a `SealedStore`. What it has decrypted is in memory of its own, and stays until it ends.
package final class SealedSnapshot: KeyValueSnapshot {
  /// The snapshot of the entries as they are stored.
  package let base: any KeyValueSnapshot
  let entries: SealedEntries
  // Both are safe without a lock: `KeyValueSnapshot` is used by one thread at a time, which whoever shares a version sees to (each thread
  // that reads beside another has a snapshot of its own). Nothing of the file decides who calls; it is authenticated before it comes in.

  /// Values by name.
  nonisolated(unsafe) private var kept: [[UInt8]: ValueBuffer] = [:]
  /// How many values it keeps. For tests.
  package var keptCount: Int { kept.count }
  /// Of the side entries, once they were asked for.
  nonisolated(unsafe) private var fences: SideFences?

  /// What a snapshot's entries are with a cipher. For a file that nobody has open, see `SealedStore` for others.
  package convenience init(_ base: any KeyValueSnapshot, _ cipher: EntryCipher) { self.init(base, SealedEntries(cipher)) }

  init(_ base: any KeyValueSnapshot, _ entries: SealedEntries) { (self.base, self.entries) = (base, entries) }

  package var version: Version { base.version }

  package func value(for key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
    try keptValue(entries.name(of: key))?.bytes
  }

  /// For whoever keeps it longer than the snapshot: not kept here.
  package func lastingValue(for key: UnsafeRawBufferPointer) throws(StorageError) -> LastingValue? {
    let name = entries.name(of: key)
    if let known = kept[name] { return LastingValue(making: known) }
    return try opened(name).map { LastingValue(making: $0) }
  }

  package func visit(
    from start: UnsafeRawBufferPointer, sharing prefix: Int, reverse: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    try SealedVisit(self, sharing: Array(start.prefix(prefix)), reverse: reverse, readsValues: true).run(from: start, body)
  }

  package func visitKeys(
    from start: UnsafeRawBufferPointer, sharing prefix: Int, reverse: Bool, _ body: (_ key: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    let visit = SealedVisit(self, sharing: Array(start.prefix(prefix)), reverse: reverse, readsValues: false)
    try visit.run(from: start) { key, _ in body(key) }
  }

  package func end() {
    (kept, fences) = ([:], nil)
    base.end()
  }

  // MARK: By name

  /// The value of the entry with a name, which stays until the snapshot ends; nil if there is none.
  func keptValue(_ name: [UInt8]) throws(StorageError) -> ValueBuffer? {
    if let known = kept[name] { return known }
    guard let value = try opened(name) else { return nil }
    kept[name] = value
    return value
  }

  /// The same for the caller alone.
  func opened(_ name: [UInt8]) throws(StorageError) -> ValueBuffer? {
    try name.lend { name throws(StorageError) in
      guard let sealed = try base.value(for: name) else { return nil }
      return try entries.opened(sealed, name)
    }
  }

  /// The keys of all entries whose names begin with a prefix, in their order, with these names.
  func hiddenKeys(_ prefix: [UInt8]) throws(StorageError) -> [(key: [UInt8], name: [UInt8])] {
    var found: [(key: [UInt8], name: [UInt8])] = []
    var isSound = true
    try prefix.lend { start throws(StorageError) in
      try base.visitKeys(from: start, sharing: start.count, reverse: false) { name in
        guard let key = entries.cipher.shown(name, after: start.count) else {
          isSound = false
          return .stop
        }
        found.append((key, Array(name)))
        return .proceed
      }
    }
    if !isSound { throw .corrupt("the name of an entry is not what was written with the key") }
    found.sort { $0.key.lexicographicallyPrecedes($1.key) }
    return found
  }

  // MARK: Side entries

  /// The fences of the directory of side entries in this version.
  func sideFences() throws(StorageError) -> SideFences {
    if let fences { return fences }
    let made = try findSideFences()
    fences = made
    return made
  }

  private func findSideFences() throws(StorageError) -> SideFences {
    guard let value = try keptValue(SideDirectory.recordName) else { return SideFences(version: 0, fences: []) }
    let record = try SideDirectory.Record(value.bytes)
    if let known = entries.sideFences(record.version) { return known }
    let fences = try hiddenKeys(SideDirectory.blockPrefix).map { Array($0.key.dropFirst(SideDirectory.blockPrefix.count)) }
    guard UInt64(fences.count) == record.blockCount, fences.first?.isEmpty == true else {
      throw .corrupt("the directory of side entries has lost a block")
    }
    let made = SideFences(version: record.version, fences: fences)
    entries.keep(made)
    return made
  }

  /// The keys in a block of the directory, ascending. The block is not kept: who asks for one goes through many.
  func sideKeys(_ fence: [UInt8]) throws(StorageError) -> [[UInt8]] {
    guard let block = try opened(SideDirectory.blockName(fence, entries.cipher)) else {
      throw .corrupt("a block of the directory of side entries is missing")
    }
    defer { withExtendedLifetime(block) {} }
    return try SideDirectory.keys(block.bytes)
  }
}
