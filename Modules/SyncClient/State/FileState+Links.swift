import StorageInterface
import SyncModel

// The index of links: which objects may link to an object. When the object arrives, their hidden links to it are shown.

extension FileState {
  private static let space = UInt8(ascii: "g")

  /// Adds an entry. Entries stay when the link goes: extra linkers do no harm.
  func note(link target: ObjectIdentity, from linker: ObjectIdentity) throws(StorageError) {
    let key = FileState.linkKey(target) + SideName.bytes(linker)
    var pairs = try FileState.pairs(try sides.side(key))
    if pairs.contains(where: { $0.target == target && $0.linker == linker }) { return }
    pairs.append((target, linker))
    hasLinks = true
    try sides.setSide(key, ObjectIdentity.encode(pairs.flatMap { [$0.target, $0.linker] }))
  }

  /// Every object that may hold a link to the target. O(the objects that do, or once did).
  package func linkers(of target: ObjectIdentity) throws(StorageError) -> [ObjectIdentity] {
    guard try mayHaveLinks() else { return [] }
    let start = FileState.linkKey(target)
    var values: [[UInt8]] = []
    try sides.sides(from: start, below: start.dropLast() + [start[start.count - 1] + 1]) { _, value in
      values.append(Array(value))
      return .proceed
    }
    var linkers: [ObjectIdentity] = []
    for value in values { for pair in try FileState.pairs(value) where pair.target == target { linkers.append(pair.linker) } }
    return linkers
  }

  /// Cached, because it is needed for every new object and most files have many without any link.
  private func mayHaveLinks() throws(StorageError) -> Bool {
    if let hasLinks { return hasLinks }
    var isEmpty = true
    try sides.sides(from: [FileState.space], below: [FileState.space + 1]) { _, _ in
      isEmpty = false
      return .stop
    }
    hasLinks = !isEmpty
    return !isEmpty
  }

  /// The length distinguishes names of which one is a prefix of the other; the final 0 leaves room for an upper bound one above.
  private static func linkKey(_ target: ObjectIdentity) -> [UInt8] {
    let name = SideName.bytes(target)
    return [space, UInt8(name.count)] + name + [0]
  }

  private static func pairs(_ bytes: [UInt8]?) throws(StorageError) -> [(target: ObjectIdentity, linker: ObjectIdentity)] {
    guard let bytes else { return [] }
    return try reading("index of links") { () throws(CodingError) in
      let objects = try ObjectIdentity.decode(bytes)
      guard objects.count.isMultiple(of: 2) else { throw CodingError(.value, at: bytes.count) }
      return stride(from: 0, to: objects.count, by: 2).map { (objects[$0], objects[$0 + 1]) }
    }
  }
}
