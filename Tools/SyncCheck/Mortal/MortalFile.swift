#if Sync
import StorageForwarding
import StorageInterface
import StoreValues
import SyncClient
import SyncModel
import Synchronization

// A device's file whose process dies in the middle of what its replicator does with it. The product knows nothing of that: an engine in
// front of the device's own sees by the side entries that are read and written (Docs/FileFormat.md) which work it is. Only a replicator
// reads the outbox in a snapshot, and only a replicator writes how far the file is in the server's log; so the app's writes are none of it.

/// The side entries by which a work shows.
private enum Entry {
  /// How the keys of what waits to be sent begin.
  static let outbox = UInt8(ascii: "o")
  /// How far the file is in the server's log.
  static let cursor: [UInt8] = [UInt8(ascii: "s"), 0]
}

extension StorageBackend {
  /// The same place, whose process dies at a point.
  ///
  /// - Parameter pages: what has come from the server.
  func dying(by fuse: Fuse, _ pages: PagesSeen) -> any StorageBackend {
    ForwardingBackend(self) { engine in
      ForwardingEngine(
        engine,
        read: { read in
          if read.powers.sides == nil { return read }
          return MortalRead(base: read, fuse)
        },
        write: { write in
          let powers = write.writePowers
          guard let entries = powers.sides else { return write }
          return MortalWrite(base: write, powers, entries, fuse, pages)
        })
    }
  }
}

/// A snapshot whose process dies when what waits to be sent is read in it.
private final class MortalRead: ForwardingRead, SideReading {
  let base: any ReadTransaction
  private let fuse: Fuse
  private let hasCollected = Atomic(false)

  init(base: any ReadTransaction, _ fuse: Fuse) { (self.base, self.fuse) = (base, fuse) }

  var powers: StoragePowers {
    var powers = base.powers
    if powers.sides != nil { powers.sides = self }
    return powers
  }

  private func sideEntries() throws(StorageError) -> any SideReading {
    guard let sides = base.powers.sides else { throw StorageError(.unsupported, .statement, "The engine has no side entries.") }
    return sides
  }

  var isOpenToOthers: Bool { base.powers.sides?.isOpenToOthers ?? false }

  func side(_ key: [UInt8], _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError) { try sideEntries().side(key, body) }

  func sides(
    from start: [UInt8], below end: [UInt8]?, _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    let entries = try sideEntries()
    guard start.first == Entry.outbox else { return try entries.sides(from: start, below: end, body) }
    fuse.reached("before-collect")
    try entries.sides(from: start, below: end) { key, value in
      fuse.reached("amid-collect")
      return body(key, value)
    }
    hasCollected.store(true, ordering: .relaxed)
  }

  func end() {
    base.end()
    if hasCollected.exchange(false, ordering: .relaxed) { fuse.reached("after-collect") }
  }
}

/// A write whose process dies at a point of the work that it is.
private final class MortalWrite: ForwardingWrite, SideWriting {
  let base: any WriteTransaction
  private let basePowers: WritePowers
  private let entries: any SideWriting
  private let fuse: Fuse
  private let pages: PagesSeen
  /// Whether the file was a replica before; nil before that has to be known.
  private var wasReplica: Bool?
  private var putsToOutbox = false
  private var takesFromOutbox = false
  /// What it is, once it has written how far the file is; none if it is the app's.
  private var works: [ReplicatorWork] = []

  init(base: any WriteTransaction, _ powers: WritePowers, _ entries: any SideWriting, _ fuse: Fuse, _ pages: PagesSeen) {
    (self.base, basePowers, self.entries, self.fuse, self.pages) = (base, powers, entries, fuse, pages)
  }

  var powers: StoragePowers {
    var powers = base.powers
    if powers.sides != nil { powers.sides = self }
    return powers
  }

  var writePowers: WritePowers { WritePowers(sides: self, history: basePowers.history) }

  var isOpenToOthers: Bool { entries.isOpenToOthers }

  func side(_ key: [UInt8], _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError) { try entries.side(key, body) }

  func sides(
    from start: [UInt8], below end: [UInt8]?, _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    try entries.sides(from: start, below: end, body)
  }

  func setSide(_ key: [UInt8], _ value: [UInt8]?) throws(StorageError) {
    if wasReplica == nil { wasReplica = try ReplicaStanding.read(entries) != nil }
    if key.first == Entry.outbox {
      if value == nil { takesFromOutbox = true } else { putsToOutbox = true }
    }
    guard key == Entry.cursor else { return try entries.setSide(key, value) }
    let before = try SyncCursor.read(entries)
    try entries.setSide(key, value)
    works = work(from: before, to: try SyncCursor.read(entries))
    // The objects are changed by now, and the rest of what belongs to that is not.
    for work in works { fuse.reached("amid-\(work.rawValue)") }
  }

  private func work(from before: Seq, to after: Seq) -> [ReplicatorWork] {
    if wasReplica == false { return putsToOutbox ? [.adopt] : [] }
    if after < before { return [.beginAnew] }
    // Its clock is set, for example.
    guard after > before else { return [] }
    if pages.take() { return [.take] }
    return takesFromOutbox ? [.integrate, .settle] : [.integrate]
  }

  func commit(_ record: CommitRecord, _ durability: Durability) throws(StorageError) -> Version {
    for work in works { fuse.reached("before-\(work.rawValue)") }
    for work in works { fuse.reachedSoon("in-\(work.rawValue)") }
    let version = try base.commit(record, durability)
    for work in works { fuse.reached("after-\(work.rawValue)") }
    return version
  }
}
#endif
