#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import StoreValues

/// Writes a body that refers to strings, replicas, stamps and objects by their index in tables, which precede the body. The index is the
/// order of first use, so a value has one encoding.
struct TableWriter: CellWriter {
  var body = ByteWriter()
  private var texts = Table<Name>()
  private var replicas = Table<ReplicaID>()
  private var stamps = Table<Stamp>()
  private var targets = Table<LinkTarget>()
  /// Whether replica 0 is the author of a changeset, whom the changeset's head names.
  private let isAuthored: Bool

  init(author: ReplicaID? = nil) {
    isAuthored = author != nil
    if let author { _ = replicas.place(author) }
  }

  private struct Table<Element: Hashable> {
    var all: [Element] = []
    private var places: [Element: Int] = [:]

    /// Up to this size the table is searched linearly: most records name only a few, and hashing costs more.
    private static var fewMax: Int { 8 }

    mutating func place(_ element: Element) -> Int {
      if all.count <= Self.fewMax {
        if let place = all.firstIndex(of: element) { return place }
        if all.count == Self.fewMax { for (place, element) in all.enumerated() { places[element] = place } }
      } else if let place = places[element] {
        return place
      }
      if all.count >= Self.fewMax { places[element] = all.count }
      all.append(element)
      return all.count - 1
    }
  }

  mutating func put(_ name: Name) { body.put(texts.place(name)) }
  mutating func put(_ replica: ReplicaID) { body.put(replicas.place(replica)) }

  /// 0 stands for `Stamp.zero`; others count from 1.
  mutating func put(_ stamp: Stamp) { body.put(stamp == .zero ? 0 : stamps.place(stamp) + 1) }

  /// An object and its epoch.
  mutating func put(_ target: LinkTarget) { body.put(targets.place(target)) }

  mutating func put(_ id: ElementID) {
    put(id.replica)
    body.put(id.number)
  }

  mutating func put(_ position: ListPosition) {
    body.put(position.steps.count)
    for step in position.steps {
      body.put(signed: step.gap)
      put(step.bunch)
      body.put(signed: step.offset)
    }
  }

  /// The tables, then the body.
  ///
  /// - Parameter base: the time to which the first stamp's difference refers.
  mutating func finished(base: UInt64) -> [UInt8] {
    var objects = ByteWriter()
    objects.put(targets.all.count)
    for target in targets.all { put(target, to: &objects) }
    var times = ByteWriter()
    times.put(stamps.all.count)
    var last = base
    for stamp in stamps.all {
      times.put(replicas.place(stamp.replica))
      times.put(signed: Int64(bitPattern: stamp.time &- last))
      last = stamp.time
    }
    var result = ByteWriter()
    result.put(texts.all.count)
    for text in texts.all { result.put(text.text.utf8) }
    let named = replicas.all.dropFirst(isAuthored ? 1 : 0)
    result.put(named.count)
    for replica in named { result.put(fixed: replica.rawValue) }
    result.put(raw: times.bytes)
    result.put(raw: objects.bytes)
    result.put(raw: body.bytes)
    return result.bytes
  }

  /// Class, key and epoch. May add strings, replicas and stamps to the other tables, so these are written after it.
  private mutating func put(_ target: LinkTarget, to objects: inout ByteWriter) {
    objects.put(texts.place(target.object.className))
    switch target.object.key {
    case .int(let x):
      objects.put(byte: 0)
      objects.put(signed: x)
    case .string(let x):
      objects.put(byte: 1)
      objects.put(texts.place(x))
    case .uuid(let x):
      objects.put(byte: 2)
      withUnsafeBytes(of: x.uuid) { objects.put(raw: $0) }
    case .objectId(let x):
      objects.put(byte: 3)
      objects.put(raw: x.bytes)
    case .created(let replica, let key):
      objects.put(byte: 4)
      objects.put(replicas.place(replica))
      objects.put(signed: key.rawValue)
    }
    objects.put(target.epoch == .zero ? 0 : stamps.place(target.epoch) + 1)
  }
}
