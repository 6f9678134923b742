import StorageInterface
import StoreValues

/// The right to write a `SealedStore`.
final class SealedWriter: KeyValueWriter {
  private let base: any KeyValueWriter
  private let store: SealedStore

  init(_ base: any KeyValueWriter, _ store: SealedStore) { (self.base, self.store) = (base, store) }

  func end() { base.end() }

  func apply(_ batch: consuming KeyValueBatch, _ durability: Durability) throws(StorageError) {
    let entries = store.entries
    var sealed = KeyValueBatch(version: batch.version)
    var sides: [SideChange] = []
    try batch.drain { key, value throws(StorageError) in
      let name = entries.name(of: key)
      if key.first == EntryKey.Space.side.rawValue {
        sides.append(SideChange(key: Array(key.dropFirst()), name: name, isPut: value != nil))
      }
      try sealed.append(name, value, entries.cipher)
    }
    let fences = sides.isEmpty ? nil : try follow(sides, &sealed)
    // Names have another order than their keys.
    sealed.sort()
    try base.apply(sealed, durability)
    if let fences { entries.keep(fences) }
  }

  private struct SideChange {
    var key: [UInt8]
    var name: [UInt8]
    var isPut: Bool
  }

  /// Adds what the directory needs for the side entries that were put or deleted. Returns its fences, if they are others.
  private func follow(_ sides: [SideChange], _ batch: inout KeyValueBatch) throws(StorageError) -> SideFences? {
    let entries = store.entries
    // The version that the batch follows, because the right to write is held.
    let snapshot = SealedSnapshot(try store.base.beginSnapshot(), entries)
    defer { snapshot.end() }
    var changes: [SideDirectoryEdits.Change] = []
    for side in sides {
      let isThere = try side.name.lend { name throws(StorageError) in try snapshot.base.value(for: name) } != nil
      if isThere != side.isPut { changes.append(SideDirectoryEdits.Change(key: side.key, isAdded: side.isPut)) }
    }
    let edits = try SideDirectoryEdits(changes, snapshot.sideFences(), version: batch.version) { fence throws(StorageError) in
      try snapshot.sideKeys(fence)
    }
    for (fence, keys) in edits.written {
      try batch.append(SideDirectory.blockName(fence, entries.cipher), SideDirectory.encode(keys), entries.cipher)
    }
    for fence in edits.removed { try batch.append(SideDirectory.blockName(fence, entries.cipher), nil, entries.cipher) }
    guard let moved = edits.moved else { return nil }
    let record = SideDirectory.Record(version: moved.version, blockCount: moved.count)
    try batch.append(SideDirectory.recordName, ValueBuffer(record.encoded), entries.cipher)
    return moved
  }
}

extension KeyValueBatch {
  /// Appends an entry with the value encrypted; nil: a delete.
  fileprivate mutating func append(_ name: [UInt8], _ value: ValueBuffer?, _ cipher: EntryCipher) throws(StorageError) {
    try name.lend { name throws(StorageError) in
      append(key: name, value: try value.map { value throws(StorageError) in try cipher.seal(value.bytes, name) })
    }
  }
}
