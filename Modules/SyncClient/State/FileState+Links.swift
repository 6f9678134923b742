import StorageInterface
import SyncModel

// The index of links: which objects may link to an object. When the object arrives, their hidden links to it are shown.
// It is kept in both directions: by the target to be asked, and by the linker to be forgotten.

extension FileState {
  private static let space = UInt8(ascii: "g")
  private static let ownSpace = UInt8(ascii: "h")

  /// Adds an entry. It stays when the link goes, until the next purge: extra linkers do no harm.
  func note(link target: ObjectIdentity, from linker: ObjectIdentity) throws(StorageError) {
    let own = FileState.key(FileState.ownSpace, linker, target)
    if try FileState.pairs(try sides.side(own)).contains(where: { $0 == (target, linker) }) { return }
    let key = FileState.key(FileState.space, target, linker)
    var pairs = try FileState.pairs(try sides.side(key))
    if !pairs.contains(where: { $0 == (target, linker) }) { pairs.append((target, linker)) }
    hasLinks = true
    try set(pairs, key, own)
  }

  /// Removes an entry.
  func drop(link target: ObjectIdentity, from linker: ObjectIdentity) throws(StorageError) {
    let key = FileState.key(FileState.space, target, linker)
    var pairs = try FileState.pairs(try sides.side(key))
    pairs.removeAll { $0 == (target, linker) }
    try set(pairs, key, FileState.key(FileState.ownSpace, linker, target))
  }

  /// Objects with long names may share the keys of an entry.
  private func set(_ pairs: [(target: ObjectIdentity, linker: ObjectIdentity)], _ keys: [UInt8]...) throws(StorageError) {
    let bytes = pairs.isEmpty ? nil : ObjectIdentity.encode(pairs.flatMap { [$0.target, $0.linker] })
    for key in keys { try sides.setSide(key, bytes) }
  }

  /// Every object that the index has for a linker. O(those).
  func notedTargets(of linker: ObjectIdentity) throws(StorageError) -> [ObjectIdentity] {
    guard try mayHaveLinks() else { return [] }
    return try entries(FileState.start(FileState.ownSpace, linker)).filter { $0.linker == linker }.map(\.target)
  }

  /// Every object that may hold a link to the target. O(the objects that do, or once did).
  package func linkers(of target: ObjectIdentity) throws(StorageError) -> [ObjectIdentity] {
    guard try mayHaveLinks() else { return [] }
    return try entries(FileState.start(FileState.space, target)).filter { $0.target == target }.map(\.linker)
  }

  /// The entries whose keys begin with some bytes, of which the last is 0.
  private func entries(_ start: [UInt8]) throws(StorageError) -> [(target: ObjectIdentity, linker: ObjectIdentity)] {
    var values: [[UInt8]] = []
    try sides.sides(from: start, below: start.dropLast() + [1]) { _, value in
      values.append(Array(value))
      return .proceed
    }
    var entries: [(target: ObjectIdentity, linker: ObjectIdentity)] = []
    for value in values { entries += try FileState.pairs(value) }
    return entries
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

  private static func key(_ space: UInt8, _ first: ObjectIdentity, _ second: ObjectIdentity) -> [UInt8] {
    start(space, first) + SideName.bytes(second)
  }

  /// The length distinguishes names of which one is a prefix of the other; the final 0 leaves room for an upper bound one above.
  private static func start(_ space: UInt8, _ first: ObjectIdentity) -> [UInt8] {
    let name = SideName.bytes(first)
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
