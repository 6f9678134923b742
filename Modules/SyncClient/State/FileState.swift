import StorageInterface
import SyncModel

/// The merge state of a file, stored in side entries: it has the version of the objects, and is rolled back with them.
///
/// | key | value |
/// |---|---|
/// | `m`, object | its record, with values |
/// | `l`, object | which lists it has, and in which pieces (`KeptDirectory`) |
/// | `k`, list u64, piece u32 | a run of elements (`ListPiece`) |
/// | `g`, target, linker | both: the linker has held a link to the target since the last purge |
/// | `h`, linker, target | the same |
/// | `s`, 1 | the floor of purges |
/// | `s`, 3 | the last list's number, u64 |
/// | `s`, 4 | what records name by a number (`RecordWords`) |
///
/// Reads are cached; `flush` writes the changes, once for each object and piece, and `letGo` empties the cache. For one write; confined to
/// its owner.
package final class FileState: MergeState {
  let sides: any SideWriting
  package private(set) var floor: Stamp
  let words: RecordWords
  private var records: [ObjectIdentity: KeptRecord] = [:]
  /// The record used last: successive operations often act on one object.
  private var last: KeptRecord?
  var lists: [ObjectIdentity: KeptLists] = [:]
  /// The entry up to which this write purges the log; nil if it does not purge.
  private var purged: Seq?
  /// The objects without a record.
  var settled: SettledRows
  /// Whether any object links or has linked to another; nil until that is looked up.
  var hasLinks: Bool?

  /// A record in memory.
  private final class KeptRecord {
    let object: ObjectIdentity
    var value: ObjectRecord?
    var isChanged = false
    /// The targets that the link index already has for this object, as far as the record shows.
    var links: Set<ObjectIdentity>

    init(_ object: ObjectIdentity, _ value: ObjectRecord?) {
      self.object = object
      self.value = value
      links = value?.node.contents.linkTargets ?? []
    }
  }

  private static let floorKey: [UInt8] = [UInt8(ascii: "s"), 1]
  private static let wordsKey: [UInt8] = [UInt8(ascii: "s"), 4]
  private var recordEntries: SideEntries { SideEntries(space: UInt8(ascii: "m"), sides: sides, words: words) }

  /// Reads the state at the beginning of a write.
  package init(_ sides: any SideWriting) throws(StorageError) {
    self.sides = sides
    words = try sides.side(FileState.wordsKey).map { bytes throws(StorageError) in
      try reading("names") { () throws(CodingError) in try RecordWords(decoding: bytes) }
    } ?? RecordWords()
    floor = .zero
    let own = words.settled.isEmpty ? nil : try ReplicaStanding.read(sides)?.replica
    settled = SettledRows(sides: sides, names: ObjectNames(sides, own: own ?? ReplicaID(0)))
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

  // MARK: records

  private func kept(_ object: ObjectIdentity) throws(StorageError) -> KeptRecord {
    if let last, last.object == object { return last }
    if let known = records[object] {
      last = known
      return known
    }
    let record = try recordEntries.entry(of: object) { bytes throws(StorageError) -> ObjectRecord? in
      guard let bytes else {
        guard let properties = words.settled[object.className] else { return nil }
        return try settled.record(of: object, properties)
      }
      return try reading("record of \(object)") { () throws(CodingError) in try ObjectRecord(decoding: bytes, words) }
    }
    let kept = KeptRecord(object, record)
    records[object] = kept
    last = kept
    return kept
  }

  /// Notes that the row of an object, which existed before the open write, is deleted. Its values are not read any more.
  func noteGone(_ object: ObjectIdentity) throws(StorageError) {
    let kept = try kept(object)
    guard kept.value == nil, !kept.isChanged, words.settled[object.className] != nil else { return }
    kept.value = settled.goneRecord(of: object)
  }

  package func record(of object: ObjectIdentity) throws(StorageError) -> ObjectRecord? { try kept(object).value }

  package func setRecord(_ record: ObjectRecord?, of object: ObjectIdentity) throws(StorageError) {
    try returnRecord(record, of: object, isChanged: true)
  }

  package func lendRecord(of object: ObjectIdentity) throws(StorageError) -> ObjectRecord? {
    let kept = try kept(object)
    return kept.value.take()
  }

  package func returnRecord(_ record: ObjectRecord?, of object: ObjectIdentity, isChanged: Bool) throws(StorageError) {
    let kept = try kept(object)
    kept.value = record
    if !isChanged { return }
    kept.isChanged = true
    guard let record else { return }
    for target in record.node.contents.linkTargets where kept.links.insert(target).inserted { try note(link: target, from: object) }
  }

  /// Writes the changes, and forgets what was read. Between steps of a write that is too large for memory: the file must show each object
  /// that was touched as its record says.
  func letGo() throws(StorageError) {
    try flush()
    (records, lists, last) = ([:], [:], nil)
  }

  /// Writes the changes. Call it at the end of the write.
  package func flush() throws(StorageError) {
    if purged != nil { try forgetLinks() }
    let entries = recordEntries
    for (object, kept) in records where kept.isChanged {
      try entries.set(try isSettled(kept) ? nil : kept.value?.encoded(words), of: object)
      kept.isChanged = false
    }
    try flushLists()
    guard words.isChanged else { return }
    try sides.setSide(FileState.wordsKey, words.encoded())
    words.settle()
  }

  /// Drops from the link index what the objects of a purge do not link to any more. O(their links). All is read before anything is
  /// dropped, because an engine sorts its edits for a scan between them.
  private func forgetLinks() throws(StorageError) {
    var gone: [(kept: KeptRecord, target: ObjectIdentity)] = []
    for (object, kept) in records {
      let held = kept.value?.node.contents.linkTargets ?? []
      var targets = try notedTargets(of: object)
      targets.removeAll { held.contains($0) }
      if targets.isEmpty { continue }
      let listed = try elementTargets(of: object)
      for target in targets where !listed.contains(target) { gone.append((kept, target)) }
    }
    for (kept, target) in gone {
      try drop(link: target, from: kept.object)
      kept.links.remove(target)
    }
  }

  /// Whether a record may be omitted from now on.
  private func isSettled(_ kept: KeptRecord) throws(StorageError) -> Bool {
    guard let purged, settled.isPossible, let record = kept.value, record.settledValues != nil else { return false }
    let name = kept.object.className
    let properties = words.settled[name] ?? settled.properties(of: kept.object)
    guard try settled.covers(record, of: kept.object, properties, upTo: purged) else { return false }
    return words.settle(class: name, properties)
  }

  /// Every known object, including deleted ones until a purge forgets them. O(objects).
  package func knownObjects() throws(StorageError) -> [ObjectIdentity] {
    var all = try recordedObjects()
    for object in try settled.objects(of: Array(words.settled.keys)) where records[object] == nil { all.insert(object) }
    return Array(all)
  }

  private func recordedObjects() throws(StorageError) -> Set<ObjectIdentity> {
    var all = Set(records.filter { $0.value.value != nil }.keys)
    for object in try recordEntries.objects() where records[object] == nil { all.insert(object) }
    return all
  }

  /// A copy of the whole state in memory. O(its size).
  package func copied() throws(StorageError) -> MemoryState {
    var memory = MemoryState()
    memory.setFloor(floor)
    for object in try knownObjects() {
      guard let kept = try Merge.objectState(of: object, in: self) else { continue }
      Merge.replace(object, with: kept, in: &memory)
    }
    return memory
  }

  /// All objects that have a record. O(those).
  package func objectsToPurge(upTo seq: Seq) throws(StorageError) -> [ObjectIdentity] {
    purged = seq
    return Array(try recordedObjects())
  }
}

extension Contents {
  /// The objects that the contents link to.
  var linkTargets: Set<ObjectIdentity> {
    var targets: Set<ObjectIdentity> = []
    forEachLink { targets.insert($0.object) }
    return targets
  }
}
