import StorageInterface
import SyncModel

/// The merge state of a file, in its side entries: so it is of the same version as the objects, and undone with them.
///
/// | key | value |
/// |---|---|
/// | `m`, object | its record, with values |
/// | `l`, object | which lists it has, and in which pieces (`ListDirectory`) |
/// | `k`, list u64, piece u32 | a run of elements (`ListPiece`) |
/// | `g`, target, linker | both: the linker has held a link to the target |
/// | `s`, 1 | the floor of purges |
/// | `s`, 3 | the last list's number, u64 |
///
/// What is read is kept, and what is changed is written by `flush`, once for each object and piece. For one write; confined to its owner.
package final class FileState: MergeState {
  let sides: any SideWriting
  package private(set) var floor: Stamp
  var records: [ObjectIdentity: KeptRecord] = [:]
  var lists: [ObjectIdentity: KeptLists] = [:]

  struct KeptRecord {
    var value: ObjectRecord?
    let place: SideEntries.Place
    var isChanged = false
  }

  private static let floorKey: [UInt8] = [UInt8(ascii: "s"), 1]
  private var recordEntries: SideEntries { SideEntries(space: UInt8(ascii: "m"), sides: sides) }

  /// The state that a write begins with.
  package init(_ sides: any SideWriting) throws(StorageError) {
    self.sides = sides
    floor = .zero
    guard let bytes = try sides.side(FileState.floorKey) else { return }
    floor = try reading("floor") { () throws(CodingError) in
      var reader = ByteReader(bytes)
      let floor = Stamp(time: try reader.fixed(UInt64.self), replica: ReplicaID(try reader.fixed(UInt64.self)))
      try reader.end()
      return floor
    }
  }

  package func setFloor(_ floor: Stamp) throws(StorageError) {
    self.floor = floor
    var writer = ByteWriter()
    writer.put(fixed: floor.time)
    writer.put(fixed: floor.replica.rawValue)
    try sides.setSide(FileState.floorKey, writer.bytes)
  }

  package func record(of object: ObjectIdentity) throws(StorageError) -> ObjectRecord? {
    if let kept = records[object] { return kept.value }
    let (place, bytes) = try recordEntries.entry(of: object)
    let record = try bytes.map { bytes throws(StorageError) in
      try reading("record of \(object)") { () throws(CodingError) in try ObjectRecord(decoding: bytes) }
    }
    records[object] = KeptRecord(value: record, place: place)
    return record
  }

  package func setRecord(_ record: ObjectRecord?, of object: ObjectIdentity) throws(StorageError) {
    let old = try self.record(of: object)
    records[object]?.value = record
    records[object]?.isChanged = true
    guard let record else { return }
    var links: Set<ObjectIdentity> = []
    record.node.contents.forEachLink { links.insert($0.object) }
    if links.isEmpty { return }
    old?.node.contents.forEachLink { links.remove($0.object) }
    for target in links { try note(link: target, from: object) }
  }

  /// Writes what was changed. Once, at the end of the write.
  package func flush() throws(StorageError) {
    for (object, kept) in records where kept.isChanged {
      try recordEntries.set(kept.value?.encoded(), at: kept.place)
      records[object]?.isChanged = false
    }
    try flushLists()
  }

  /// Every object of which something is known: deleted ones too, until a purge forgets them. O(objects).
  package func knownObjects() throws(StorageError) -> [ObjectIdentity] {
    var all = Set(records.filter { $0.value.value != nil }.keys)
    try recordEntries.forEach { object, _ in if records[object] == nil { all.insert(object) } }
    return Array(all)
  }

  /// A copy of all that is known, in memory. O(all of it).
  package func copied() throws(StorageError) -> MemoryState {
    var memory = MemoryState()
    memory.setFloor(floor)
    for object in try knownObjects() {
      guard let kept = try Merge.objectState(of: object, in: self) else { continue }
      Merge.replace(object, with: kept, in: &memory)
    }
    return memory
  }

  /// All objects: a purge looks at each once. O(objects).
  package func objectsToPurge(upTo seq: Seq) throws(StorageError) -> [ObjectIdentity] { try knownObjects() }
}
