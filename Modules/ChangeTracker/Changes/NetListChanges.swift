import StorageInterface

/// The edits of one list between a state given to observers and the current one, over any number of commits.
///
/// List elements have no identity, and two may be equal: only the edits tell which elements stay, move or go. They are kept as
/// pieces, each a run of elements that were adjacent in the old list or are new, so a bulk insertion is one piece. Bounded by
/// the edits, not by the list.
///
/// A value, confined to its owner. Positions outside the list, which only a damaged record has, are clamped.
package struct NetListChanges: Sendable {
  struct Piece: AlikeElements, Sendable {
    /// The old position of the first element; nil: new elements.
    var old: Int?
    var count: Int
    var isModified = false
    var isMoved = false

    /// Whether its elements follow those of another piece in the old list or are all new, and both are modified.
    func continues(_ other: Piece) -> Bool {
      guard isModified, other.isModified, !isMoved, !other.isMoved else { return false }
      return old == other.old.map { $0 + other.count }
    }

    /// New elements without any other change.
    var isPlainlyNew: Bool { old == nil && !isModified && !isMoved }

    func part(_ range: Range<Int>) -> Piece {
      var part = self
      part.old = old.map { $0 + range.lowerBound }
      part.count = range.count
      return part
    }
  }

  let oldCount: Int
  private(set) var pieces: [Piece]
  /// The number of pieces; for tests.
  package var pieceCount: Int { pieces.count }

  /// The number of elements of the current list.
  package private(set) var count: Int
  /// A piece near the last edit, and the position at which it begins: edits mostly ascend, and are found from here.
  private var near = (index: 0, start: 0)
  /// How many pieces were looked at; for tests.
  package private(set) var steps = 0

  /// - Parameter count: the number of elements in the state given to observers.
  package init(count: Int) {
    oldCount = min(max(count, 0), NetListChanges.countMax)
    self.count = oldCount
    pieces = oldCount == 0 ? [] : [Piece(old: 0, count: oldCount)]
  }

  init(oldCount: Int, _ pieces: [Piece]) {
    self.oldCount = oldCount
    self.pieces = pieces
    count = pieces.reduce(0) { $0 + $1.count }
  }

  /// Adds the next edit. O(pieces); O(1) for an append, and for one of edits that ascend.
  package mutating func add(_ edit: ListChange.Edit) {
    switch edit {
    case .insert(let at, let count): insert(Piece(old: nil, count: max(count, 0)), at: at)
    case .remove(let range): remove(range)
    case .set(let at): set(at)
    case .move(let from, let to): move(from, to)
    case .clear: remove(0..<count)
    }
  }

  /// More elements than any list has; sums of such counts do not overflow.
  static let countMax = 1 << 48

  private mutating func insert(_ piece: Piece, at position: Int) {
    var piece = piece
    piece.count = min(piece.count, NetListChanges.countMax - count)
    if piece.count <= 0 { return }
    defer { count += piece.count }
    let i = position >= count ? pieces.count : split(before: position)
    let place = Swift.min(position, count)
    guard piece.isPlainlyNew else {
      pieces.insert(piece, at: i)
      near = (i, place)
      return
    }
    // Adjacent new elements are one piece, so a list that grows by appends keeps one piece instead of one per append.
    var (start, end) = (i, i)
    if i > 0, pieces[i - 1].isPlainlyNew { start -= 1 }
    if i < pieces.count, pieces[i].isPlainlyNew { end += 1 }
    let all = pieces[start..<end].reduce(piece.count) { $0 + $1.count }
    near = (start, start < i ? place - pieces[start].count : place)
    pieces.replaceSubrange(start..<end, with: CollectionOfOne(Piece(old: nil, count: all)))
  }

  private mutating func remove(_ range: Range<Int>) {
    let range = range.clamped(to: 0..<count)
    if range.isEmpty { return }
    let first = split(before: range.lowerBound)
    pieces.removeSubrange(first..<split(before: range.upperBound))
    near = (first, range.lowerBound)
    count -= range.count
  }

  private mutating func set(_ position: Int) {
    guard position >= 0, position < count else { return }
    let i = split(before: position)
    _ = split(before: position + 1)
    pieces[i].isModified = true
    near = (i, position)
    // Adjacent modified elements are one piece.
    join(i + 1)
    if i > 0, pieces[i].continues(pieces[i - 1]) { near = (i - 1, position - pieces[i - 1].count) }
    join(i)
  }

  /// Joins a modified piece to the one before it, if it continues that one.
  private mutating func join(_ i: Int) {
    guard i > 0, i < pieces.count, pieces[i].continues(pieces[i - 1]) else { return }
    pieces[i - 1].count += pieces[i].count
    pieces.remove(at: i)
  }

  private mutating func move(_ from: Int, _ to: Int) {
    guard from >= 0, from < count, to >= 0, to < count, from != to else { return }
    let i = split(before: from)
    _ = split(before: from + 1)
    var piece = pieces.remove(at: i)
    near = (i, from)
    count -= 1
    piece.isMoved = true
    insert(piece, at: to)
  }

  /// Splits a piece so that one begins at a position within the list, or at its end; returns its index.
  private mutating func split(before position: Int) -> Int {
    let (first, start) = position >= near.start ? near : (0, 0)
    let index = pieces.split(before: position - start, from: first)
    steps += index - first + 1
    near = (index, position)
    return index
  }
}

extension NetListChanges {
  /// Whether the edits cancel out.
  package var isEmpty: Bool {
    // A damaged record may claim more new elements than can be reported one by one.
    if count != oldCount || pieces.contains(where: { $0.old == nil }) { return false }
    return changeSet().isEmpty
  }

  /// Whether the edits lead to a list with `actual` elements. If not, their record is damaged and must be ignored; for short
  /// lists this is tolerated.
  package func canLead(to actual: Int) -> Bool { count == actual || count <= 1 << 16 }

  /// The change set for observers. O(pieces · log pieces + reported elements).
  ///
  /// - Parameter newCount: the current number of elements, if some edits are unknown: then all old elements are reported as
  ///   deleted and all current ones as inserted.
  package func changeSet(replacedBy newCount: Int? = nil) -> ChangeSet {
    if let newCount { return ChangeSet(deletions: Array(0..<oldCount), insertions: Array(0..<newCount)) }
    var positions = PositionedChanges()
    var staying: [Range<Int>] = []
    var moved: [(old: Int, inserted: Int, isModified: Bool)] = []
    var modified: Set<Int> = []
    var position = 0
    for piece in pieces {
      let range = position..<position + piece.count
      position = range.upperBound
      guard let old = piece.old, !piece.isMoved else {
        if let old = piece.old { moved.append((old, positions.inserted.count, piece.isModified)) }
        for new in range { positions.inserted.append(.init(position: new, row: piece.old ?? -1)) }
        continue
      }
      staying.append(old..<old + piece.count)
      guard piece.isModified else { continue }
      for (old, new) in zip(old..., range) { positions.kept.append(.init(old: old, new: new, row: old)) }
    }
    for row in positions.kept { modified.insert(row.row) }
    for row in moved where row.isModified { modified.insert(row.old) }
    var partners: [Int: Int] = [:]
    for row in moved { partners[row.old] = row.inserted }
    var next = 0
    for range in staying + [oldCount..<oldCount] {
      for old in next..<max(next, range.lowerBound) {
        positions.removed.append(.init(position: old, row: old, partner: partners[old] ?? -1))
      }
      next = range.upperBound
    }
    return positions.changeSet { modified.contains($0) }
  }
}
