import StorageInterface
import StoreValues

/// Encrypts the entries of a store for a new file. They come in the order of their keys, each once.
package struct SealedCopy {
  /// Takes an entry of the new file. `isInOrder`: its name is above all that came before.
  package typealias Put = (_ name: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ isInOrder: Bool) throws(StorageError) -> Void

  private let entries: SealedEntries
  private let version: Version
  /// The keys of side entries that are in no block yet.
  private var keys: [[UInt8]] = []
  private var keyBytes = 0
  private var blockCount = 0

  /// A copy of a version, for a file with this cipher.
  package init(_ cipher: EntryCipher, _ version: Version) { (entries, self.version) = (SealedEntries(cipher), version) }

  /// Adds an entry.
  package mutating func add(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, _ put: Put
  ) throws(StorageError) {
    let group = HiddenGroup(of: key)
    try seal(entries.name(of: key), value, isInOrder: group == nil, put)
    guard group?.isOfSides == true else { return }
    let side = Array(key.dropFirst())
    if keyBytes + SideDirectory.byteCount(side) > SideDirectory.blockMaxInOrder { try endBlock(put) }
    keys.append(side)
    keyBytes += SideDirectory.byteCount(side)
  }

  /// Adds what the new file needs beside the entries.
  package mutating func finish(_ put: Put) throws(StorageError) {
    try endBlock(put)
    guard blockCount > 0 else { return }
    let record = SideDirectory.Record(version: version.rawValue, blockCount: blockCount)
    try record.encoded.lend { bytes throws(StorageError) in try seal(SideDirectory.recordName, bytes, isInOrder: false, put) }
  }

  private mutating func endBlock(_ put: Put) throws(StorageError) {
    guard let first = keys.first else { return }
    let name = SideDirectory.blockName(blockCount == 0 ? [] : first, entries.cipher)
    let block = SideDirectory.encode(keys)
    defer { withExtendedLifetime(block) {} }
    try seal(name, block.bytes, isInOrder: false, put)
    (keys, keyBytes) = ([], 0)
    blockCount += 1
  }

  private func seal(_ name: [UInt8], _ value: UnsafeRawBufferPointer, isInOrder: Bool, _ put: Put) throws(StorageError) {
    try name.lend { name throws(StorageError) in
      let sealed = try entries.cipher.seal(value, name)
      try put(name, sealed.bytes, isInOrder)
      withExtendedLifetime(sealed) {}
    }
  }
}
