import StorageInterface
import SyncModel

/// The lists of one object that have been read.
struct KeptLists {
  var directory: KeptDirectory
  var isChanged = false
  /// By path: the stored pieces, and the current ones.
  var loaded: [[PathStep.Place]: (kept: [ListPiece], pieces: ListPieces)] = [:]
  /// The pieces of removed lists.
  var dropped: [KeptDirectory.List] = []
}

extension FileState {
  private var directories: SideEntries { SideEntries(space: UInt8(ascii: "l"), sides: sides, words: words) }

  package func element(_ id: ElementID, near: ListPosition, of list: ListPlace) throws(StorageError) -> ListElement? {
    try pieces(of: list).element(id, near: near)
  }

  package func elements(of list: ListPlace) throws(StorageError) -> [ListElement] { try pieces(of: list).elements }

  /// Every object that elements of an object's lists link to. O(the elements).
  func elementTargets(of object: ObjectIdentity) throws(StorageError) -> Set<ObjectIdentity> {
    let known = try kept(object)
    var targets: Set<ObjectIdentity> = []
    for path in Set(known.directory.lists.keys).union(known.directory.short.keys).union(known.loaded.keys) {
      for element in try elements(of: ListPlace(object: object, path: path)) { element.slot.forEachLink { targets.insert($0.object) } }
    }
    return targets
  }

  package func replaceElement(_ old: ListElement?, with new: ListElement?, of list: ListPlace) throws(StorageError) {
    try load(list)
    lists[list.object]?.loaded[list.path, default: ([], ListPieces())].pieces.replace(old, with: new)
    lists[list.object]?.isChanged = true
    guard let new else { return }
    var links: Set<ObjectIdentity> = []
    new.slot.forEachLink { links.insert($0.object) }
    if links.isEmpty { return }
    old?.slot.forEachLink { links.remove($0.object) }
    for target in links { try note(link: target, from: list.object) }
  }

  package func removeLists(of object: ObjectIdentity, under path: [PathStep.Place]) throws(StorageError) {
    var kept = try kept(object)
    if kept.directory.isEmpty, kept.loaded.isEmpty { return }
    let gone = Set(kept.directory.lists.keys).union(kept.directory.short.keys).union(kept.loaded.keys).filter { $0.starts(with: path) }
    if gone.isEmpty { return }
    for path in gone {
      if let list = kept.directory.lists.removeValue(forKey: path) { kept.dropped.append(list) }
      kept.directory.short[path] = nil
      kept.loaded[path] = nil
    }
    kept.isChanged = true
    lists[object] = kept
  }

  private func pieces(of list: ListPlace) throws(StorageError) -> ListPieces {
    try load(list)
    return lists[list.object]?.loaded[list.path]?.pieces ?? ListPieces()
  }

  private func load(_ list: ListPlace) throws(StorageError) {
    var kept = try kept(list.object)
    if kept.loaded[list.path] != nil { return }
    if let short = kept.directory.short[list.path] {
      lists[list.object]?.loaded[list.path] = ([short], ListPieces(kept: [short]))
      return
    }
    guard let stored = kept.directory.lists[list.path] else { return }
    var pieces: [ListPiece] = []
    for number in stored.pieces {
      let bytes = try sides.side(FileState.key(stored.number, number)) ?? []
      pieces.append(
        try reading("list \(list.path.count) deep of \(list.object)") { () throws(CodingError) in try ListPiece(decoding: bytes, words) })
    }
    kept.loaded[list.path] = (pieces, ListPieces(kept: pieces))
    lists[list.object] = kept
  }

  private func kept(_ object: ObjectIdentity) throws(StorageError) -> KeptLists {
    if let kept = lists[object] { return kept }
    let directory = try directories.entry(of: object) { bytes throws(StorageError) -> KeptDirectory in
      guard let bytes else { return KeptDirectory() }
      return try reading("lists of \(object)") { () throws(CodingError) in try KeptDirectory(decoding: bytes, words) }
    }
    let kept = KeptLists(directory: directory)
    lists[object] = kept
    return kept
  }

  private static func key(_ list: UInt64, _ piece: UInt32) -> [UInt8] {
    [UInt8(ascii: "k")] + SideName.bigEndian(list) + SideName.bigEndian(piece)
  }

  private static let lastListKey: [UInt8] = [UInt8(ascii: "s"), 3]

  /// A number that no list of the file has or had.
  private func newListNumber() throws(StorageError) -> UInt64 {
    let bytes = try sides.side(FileState.lastListKey) ?? []
    let number = bytes.reduce(0) { $0 << 8 | UInt64($1) } &+ 1
    try sides.setSide(FileState.lastListKey, SideName.bigEndian(number))
    return number
  }

  // MARK: writing

  func flushLists() throws(StorageError) {
    for (object, var kept) in lists where kept.isChanged {
      for list in kept.dropped { for piece in list.pieces { try sides.setSide(FileState.key(list.number, piece), nil) } }
      for (path, list) in kept.loaded { try write(list, path, &kept.directory) }
      for path in kept.loaded.keys { if let pieces = kept.loaded[path]?.pieces { kept.loaded[path] = (pieces.pieces, pieces) } }
      try directories.set(kept.directory.isEmpty ? nil : kept.directory.encoded(words), of: object)
      kept.dropped = []
      kept.isChanged = false
      lists[object] = kept
    }
  }

  /// Writes the pieces that differ; unchanged pieces at the beginning and the end keep their numbers.
  private func write(
    _ list: (kept: [ListPiece], pieces: ListPieces), _ path: [PathStep.Place], _ directory: inout KeptDirectory
  ) throws(StorageError) {
    let new = list.pieces.pieces
    if list.kept == new { return }
    let known = directory.lists[path]
    // A list in pieces stays so until it is empty.
    if known == nil, new.count <= 1, (new.first?.elements.count ?? 0) <= KeptDirectory.shortMax {
      directory.short[path] = new.first
      return
    }
    directory.short[path] = nil
    let before = if let known { known } else { KeptDirectory.List(number: try newListNumber(), pieces: []) }
    // A short list had no pieces.
    let old = known == nil ? [] : list.kept
    let shorter = min(old.count, new.count)
    let prefix = (0..<shorter).first { old[$0] != new[$0] } ?? shorter
    let suffix = (0..<shorter - prefix).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] } ?? shorter - prefix
    var free = Array(before.pieces[prefix..<before.pieces.count - suffix])
    var next = (before.pieces.max() ?? 0) &+ 1
    var numbers: [UInt32] = []
    for piece in new[prefix..<new.count - suffix] {
      let number: UInt32
      if free.isEmpty {
        number = next
        next &+= 1
      } else {
        number = free.removeFirst()
      }
      numbers.append(number)
      try sides.setSide(FileState.key(before.number, number), piece.encoded(words))
    }
    for number in free { try sides.setSide(FileState.key(before.number, number), nil) }
    var after = before
    after.pieces.replaceSubrange(prefix..<before.pieces.count - suffix, with: numbers)
    directory.lists[path] = after.pieces.isEmpty ? nil : after
  }
}
