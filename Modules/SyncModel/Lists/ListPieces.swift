/// A run of a list's elements, in order: the unit of reading and writing. An insert into a list of 100,000 elements writes one piece.
/// Positions are stored in the value of an entry and never in a database's key, whose maximal length they can exceed.
public struct ListPiece: Hashable, Sendable {
  /// The elements in list order. `ListPieces` limits them to `elementsMax`.
  public internal(set) var elements: [ListElement]

  /// How many elements a piece may have before `ListPieces` splits it.
  public static let elementsMax = 128

  /// Creates a piece of elements that are already in order; neither order nor number is checked.
  public init(_ elements: [ListElement] = []) { self.elements = elements }
}

/// The elements of one list, in pieces, in list order.
public struct ListPieces: Hashable, Sendable {
  /// None is empty.
  public private(set) var pieces: [ListPiece] = []

  /// An empty list.
  public init() {}

  /// Creates a list from stored pieces, which must be in order. That is not checked; an element out of order is still found by its id.
  public init(kept pieces: [ListPiece]) { self.pieces = pieces.filter { !$0.elements.isEmpty } }

  /// Creates a list from elements in any order, with unique ids.
  public init(_ elements: [ListElement]) {
    let sorted = elements.sorted()
    var start = 0
    while start < sorted.count {
      let end = min(start + ListPiece.elementsMax, sorted.count)
      pieces.append(ListPiece(Array(sorted[start..<end])))
      start = end
    }
  }

  /// Whether the list has no elements. O(1).
  public var isEmpty: Bool { pieces.isEmpty }
  /// The number of elements. O(pieces).
  public var count: Int { pieces.reduce(0) { $0 + $1.elements.count } }
  /// All elements, in order.
  public var elements: [ListElement] { pieces.flatMap(\.elements) }

  /// The element with an id.
  ///
  /// - Parameter hint: where it probably is, or `.none`. O(log n) if it is there, O(n) if it has been moved.
  public func element(_ id: ElementID, near hint: ListPosition) -> ListElement? {
    if hint != .none, !pieces.isEmpty {
      let piece = pieces[piece(for: hint, id)]
      var (low, high) = (0, piece.elements.count)
      while low < high {
        let middle = (low + high) / 2
        if ListPieces.isBefore(piece.elements[middle], hint, id) { low = middle + 1 } else { high = middle }
      }
      if low < piece.elements.count, piece.elements[low].id == id { return piece.elements[low] }
    }
    for piece in pieces {
      for element in piece.elements where element.id == id { return element }
    }
    return nil
  }

  /// The number of elements before the given one, which need not be in the list: its index in the list as it is shown.
  public func index(of position: ListPosition, _ id: ElementID) -> Int {
    var index = 0
    for piece in pieces {
      guard let last = piece.elements.last, !ListPieces.isBefore(last, position, id) else {
        index += piece.elements.count
        continue
      }
      return index + (piece.elements.firstIndex { !ListPieces.isBefore($0, position, id) } ?? 0)
    }
    return index
  }

  /// Replaces `old` by `new`: inserts, moves, changes or removes an element.
  public mutating func replace(_ old: ListElement?, with new: ListElement?) {
    if let old, let new, old.position == new.position, old.id == new.id, let (piece, index) = place(of: old) {
      pieces[piece].elements[index] = new
      return
    }
    if let old, let (piece, index) = place(of: old) {
      pieces[piece].elements.remove(at: index)
      if pieces[piece].elements.isEmpty { pieces.remove(at: piece) }
    }
    if let new { insert(new) }
  }

  private mutating func insert(_ element: ListElement) {
    guard !pieces.isEmpty else {
      pieces = [ListPiece([element])]
      return
    }
    let piece = piece(for: element.position, element.id)
    let index = pieces[piece].elements.firstIndex { element < $0 } ?? pieces[piece].elements.count
    pieces[piece].elements.insert(element, at: index)
    guard pieces[piece].elements.count > ListPiece.elementsMax else { return }
    // After an append the piece stays full, because most lists grow at their end; otherwise the piece is halved.
    let isAppend = piece == pieces.count - 1 && index == pieces[piece].elements.count - 1
    let middle = isAppend ? index : pieces[piece].elements.count / 2
    let rest = Array(pieces[piece].elements[middle...])
    pieces[piece].elements.removeSubrange(middle...)
    pieces.insert(ListPiece(rest), at: piece + 1)
  }

  /// The index of the piece that holds a position, or would: the last one that does not begin after it. Requires at least one piece.
  private func piece(for position: ListPosition, _ id: ElementID) -> Int {
    var (low, high) = (0, pieces.count)
    while low < high {
      let middle = (low + high) / 2
      let isAfter = pieces[middle].elements.first.map { !ListPieces.isBefore($0, position, id) && $0.id != id } ?? false
      if isAfter { high = middle } else { low = middle + 1 }
    }
    return max(low - 1, 0)
  }

  private func place(of element: ListElement) -> (piece: Int, index: Int)? {
    guard !pieces.isEmpty else { return nil }
    let piece = piece(for: element.position, element.id)
    guard let index = pieces[piece].elements.firstIndex(where: { $0.id == element.id }) else { return nil }
    return (piece, index)
  }

  private static func isBefore(_ element: ListElement, _ position: ListPosition, _ id: ElementID) -> Bool {
    element.position != position ? element.position < position : element.id < id
  }
}
