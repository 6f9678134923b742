import Synchronization

/// Which properties key paths are, for those that were looked up before: comparing two key paths takes longer than counting
/// over an index.
///
/// A key path that is written in a program is one object, created when it is first reached and never released. Up to 1,024 of
/// them are known by that object, which is then held for good; a key path that finds no slot is looked up every time.
///
/// Any thread, without a lock. O(1).
enum KnownKeyPaths {
  struct Property: Sendable {
    let ordinal: Int
    /// The name alone, as a query's path; its storage is shared by all users.
    let path: [String]
    var name: String { path[0] }
  }

  private struct Entry {
    let path: ObjectIdentifier
    let model: ObjectIdentifier
    let property: Property
  }

  /// Slots of entries that never change and are never freed: a reader needs no lock to use one.
  private final class Slots: @unchecked Sendable {
    // Sound because slots are only accessed by atomic operations, and neither they nor an entry that a slot points to are
    // written again or freed: an entry is initialized before its address is published, releasing, and read after it was
    // loaded, acquiring. `slot` keeps every index within `count`. No value from a file or a process is involved.
    static let count = 1_024
    let slots = UnsafeMutablePointer<Atomic<UnsafeRawPointer?>>.allocate(capacity: count)

    init() { for i in 0..<Slots.count { (slots + i).initialize(to: Atomic(nil)) } }
  }

  private static let table = Slots()
  /// How many slots a key path may have.
  private static let probes = 8

  private static func slot(_ path: ObjectIdentifier, _ probe: Int) -> Int {
    // Objects lie at multiples of sixteen.
    (Int(truncatingIfNeeded: UInt(bitPattern: path) >> 4) + probe) & (Slots.count - 1)
  }

  static func property(of path: AnyKeyPath, in model: any Model.Type) -> Property? {
    let (path, model) = (ObjectIdentifier(path), ObjectIdentifier(model))
    for probe in 0..<probes {
      guard let found = table.slots[slot(path, probe)].load(ordering: .acquiring) else { return nil }
      let entry = found.assumingMemoryBound(to: Entry.self)
      if entry.pointee.path == path, entry.pointee.model == model { return entry.pointee.property }
    }
    return nil
  }

  /// Does nothing where all slots of the key path are taken.
  static func keep(_ path: AnyKeyPath, in model: any Model.Type, _ property: Property) {
    let entry = UnsafeMutablePointer<Entry>.allocate(capacity: 1)
    entry.initialize(to: Entry(path: ObjectIdentifier(path), model: ObjectIdentifier(model), property: property))
    for probe in 0..<probes {
      let (isMine, _) = table.slots[slot(ObjectIdentifier(path), probe)].compareExchange(
        expected: nil, desired: UnsafeRawPointer(entry), successOrdering: .acquiringAndReleasing, failureOrdering: .acquiring)
      guard isMine else { continue }
      // Held, so that no other object gets its address.
      _ = Unmanaged.passRetained(path)
      return
    }
    entry.deinitialize(count: 1)
    entry.deallocate()
  }
}
