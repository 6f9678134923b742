import SyncModel

/// An object as a row: its identity, its record, its short lists, and the directory of the pieces of long lists. The pieces are rows of
/// their own, so that an append to a list of 100,000 elements writes one of them.
package struct ObjectRow: Sendable {
  /// Identifies a piece of a long list; its numbers are not reused within an object.
  package struct Piece: Hashable, Sendable {
    package let list: UInt64
    package let number: UInt32

    package init(list: UInt64, number: UInt32) { (self.list, self.number) = (list, number) }
  }

  package let object: ObjectIdentity
  /// The part of the state in the row itself, without the elements of long lists.
  package let state: ObjectState
  package private(set) var directory: ListDirectory
  private var kept: [[PathStep.Place]: [ListPiece]] = [:]

  // MARK: reading

  /// Decodes a row. Safe for arbitrary bytes; memory and time are linear in their number.
  package init(decoding bytes: [UInt8]) throws(CodingError) {
    var reader = ByteReader(bytes)
    guard let object = try ObjectIdentity.decode(Array(try reader.content())).first else { throw reader.error(.value) }
    let directory = Array(try reader.content())
    self.object = object
    self.directory = directory.isEmpty ? ListDirectory() : try ListDirectory(decoding: directory)
    state = try ObjectState(decoding: Array(try reader.raw(reader.left)))
  }

  /// Whether the object has pieces.
  package var hasPieces: Bool { !directory.lists.isEmpty }

  /// Adds the pieces; those that the directory does not name are ignored.
  package mutating func take(_ pieces: [Piece: ListPiece]) throws(CodingError) {
    for (path, list) in directory.lists {
      var kept: [ListPiece] = []
      for number in list.pieces {
        guard let piece = pieces[Piece(list: list.number, number: number)] else { throw CodingError(.truncated, at: 0) }
        kept.append(piece)
      }
      self.kept[path] = kept
    }
  }

  /// Adds the object to a state that does not have it.
  package func put(into state: inout MemoryState) {
    Merge.replace(object, with: self.state, in: &state)
    guard !kept.isEmpty else { return }
    var lists = state.listPieces(of: object)
    for (path, pieces) in kept { lists[path] = ListPieces(kept: pieces) }
    state.setListPieces(lists, of: object)
  }

  /// The object with all of its lists.
  package var wholeState: ObjectState {
    if kept.isEmpty { return state }
    var memory = MemoryState()
    put(into: &memory)
    return Merge.objectState(of: object, in: memory) ?? state
  }

  // MARK: writing

  /// What to write for a changed object.
  package struct Changes {
    /// The row; nil deletes it, with everything that belongs to it.
    package var row: [UInt8]?
    /// Whether the row has pieces.
    package var hasPieces = false
    /// The pieces; nil deletes one.
    package var pieces: [(Piece, [UInt8]?)] = []
    /// New link targets; a few extra ones do no harm.
    package var links: Set<ObjectIdentity> = []
    /// The targets to which no link is left.
    package var unlinked: Set<ObjectIdentity> = []
  }

  /// The targets of all links, without those that a purge has severed. O(the object).
  package var links: Set<ObjectIdentity> {
    var links: Set<ObjectIdentity> = []
    links.note(state.record)
    for list in state.lists { links.note(list.elements) }
    for piece in kept.values.joined() { links.note(piece.elements) }
    return links
  }

  /// The targets of the links of an object of a state, as `links`.
  package static func links(of object: ObjectIdentity, in state: MemoryState) -> Set<ObjectIdentity> {
    var links: Set<ObjectIdentity> = []
    if let record = state.record(of: object) { links.note(record) }
    for list in state.listPieces(of: object).values { for piece in list.pieces { links.note(piece.elements) } }
    return links
  }

  /// Computes what to write so that the stored object equals that of a state.
  ///
  /// - Parameter old: the object as stored; nil if it is not stored.
  package static func changes(of object: ObjectIdentity, in state: MemoryState, from old: ObjectRow?) -> Changes {
    var changes = Changes()
    guard let record = state.record(of: object) else {
      for list in old?.directory.lists.values ?? [:].values {
        for number in list.pieces { changes.pieces.append((Piece(list: list.number, number: number), nil)) }
      }
      changes.unlinked = old?.links ?? []
      return changes
    }
    var before: Set<ObjectIdentity> = []
    changes.links.note(record)
    if let old { before.note(old.state.record) }
    for list in old?.state.lists ?? [] { before.note(list.elements) }
    var (directory, short) = (ListDirectory(), [ObjectState.List]())
    let lists = state.listPieces(of: object)
    var lastList = old?.directory.lists.values.map(\.number).max() ?? 0
    for (path, pieces) in lists.sorted(by: { ObjectRow.isBefore($0.key, $1.key) }) {
      guard pieces.pieces.count > 1 else {
        short.append(ObjectState.List(path: path, elements: pieces.elements))
        changes.links.note(pieces.elements)
        continue
      }
      let known = old?.directory.lists[path]
      if known == nil { lastList += 1 }
      var list = known ?? ListDirectory.List(number: lastList, pieces: [])
      let (written, replaced) = list.takeChanges(from: old?.kept[path] ?? [], to: pieces.pieces)
      for (number, piece) in written {
        changes.pieces.append((Piece(list: list.number, number: number), piece?.encoded()))
        changes.links.note(piece?.elements ?? [])
      }
      for piece in replaced { before.note(piece.elements) }
      directory.lists[path] = list
    }
    for (path, list) in old?.directory.lists ?? [:] where directory.lists[path] == nil {
      for number in list.pieces { changes.pieces.append((Piece(list: list.number, number: number), nil)) }
      for piece in old?.kept[path] ?? [] { before.note(piece.elements) }
    }
    changes.unlinked = before.subtracting(changes.links)
    // Pieces that stay may have another link to the same target.
    if !changes.unlinked.isEmpty { changes.unlinked.subtract(links(of: object, in: state)) }
    changes.links.subtract(before)
    changes.hasPieces = !directory.lists.isEmpty
    var writer = ByteWriter()
    writer.put(ObjectIdentity.encode([object]))
    writer.put(directory.lists.isEmpty ? [] : directory.encoded())
    writer.put(raw: ObjectState(record: record, lists: short).encoded())
    changes.row = writer.bytes
    return changes
  }

  /// Any order that depends only on the paths: equal objects must have equal rows.
  private static func isBefore(_ a: [PathStep.Place], _ b: [PathStep.Place]) -> Bool {
    a.count != b.count ? a.count < b.count : "\(a)" < "\(b)"
  }
}

extension ListDirectory.List {
  /// Updates the piece numbers of a list. Returns the pieces to write, or for nil to delete, and the old ones that these replace.
  /// Unchanged pieces at the beginning and the end keep their numbers.
  fileprivate mutating func takeChanges(
    from old: [ListPiece], to new: [ListPiece]
  ) -> (written: [(UInt32, ListPiece?)], replaced: ArraySlice<ListPiece>) {
    let shorter = min(old.count, new.count)
    let prefix = (0..<shorter).first { old[$0] != new[$0] } ?? shorter
    let suffix = (0..<shorter - prefix).first { old[old.count - 1 - $0] != new[new.count - 1 - $0] } ?? shorter - prefix
    var free = Array(pieces[prefix..<pieces.count - suffix])
    var next = (pieces.max() ?? 0) &+ 1
    var (numbers, changes) = ([UInt32](), [(UInt32, ListPiece?)]())
    for piece in new[prefix..<new.count - suffix] {
      var number = next
      if free.isEmpty { next &+= 1 } else { number = free.removeFirst() }
      numbers.append(number)
      changes.append((number, piece))
    }
    pieces.replaceSubrange(prefix..<pieces.count - suffix, with: numbers)
    return (changes + free.map { ($0, nil) }, old[prefix..<old.count - suffix])
  }
}

extension Set<ObjectIdentity> {
  /// Adds what the links of a record lead to. A severed link leads nowhere for good.
  fileprivate mutating func note(_ record: ObjectRecord) {
    record.node.contents.forEachLink { if !$0.isSevered { insert($0.object) } }
  }

  /// Adds what the links of a list's elements lead to.
  fileprivate mutating func note(_ elements: [ListElement]) {
    for element in elements { element.slot.forEachLink { if !$0.isSevered { insert($0.object) } } }
  }
}
