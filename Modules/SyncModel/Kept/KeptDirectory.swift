/// The directory of an object's lists that have elements. It holds short lists itself; the pieces of longer ones are entries of their
/// own, so inserting one element does not rewrite a list of 100,000.
package struct KeptDirectory: Hashable, Sendable {
  /// The maximal number of elements of a list inside the directory.
  package static let shortMax = 8

  /// The pieces of one list.
  package struct List: Hashable, Sendable {
    /// Identifies the list in the file; never used for another list.
    package let number: UInt64
    /// The numbers of the pieces, in list order.
    package var pieces: [UInt32]

    /// Creates a list from its parts.
    package init(number: UInt64, pieces: [UInt32]) {
      self.number = number
      self.pieces = pieces
    }
  }

  /// Lists in pieces, by their path from the object; each path ends with `.list`.
  package var lists: [[PathStep.Place]: List] = [:]
  /// Short lists, which the directory holds itself; none is empty.
  package var short: [[PathStep.Place]: ListPiece] = [:]

  /// Creates an empty directory.
  package init() {}

  /// Whether the object has no elements.
  package var isEmpty: Bool { lists.isEmpty && short.isEmpty }

  /// The bytes of the directory. O(size).
  package func encoded(_ words: RecordWords) -> [UInt8] {
    var writer = KeptWriter(words)
    writer.body.put(short.count)
    for (path, piece) in short {
      writer.put(path)
      writer.body.put(piece.elements.count)
      for element in piece.elements { writer.put(element) }
    }
    for (path, list) in lists.sorted(by: { $0.value.number < $1.value.number }) {
      writer.put(path)
      writer.body.put(list.number)
      writer.body.put(list.pieces.count)
      for piece in list.pieces { writer.body.put(UInt64(piece)) }
    }
    return writer.body.bytes
  }

  /// Decodes a directory. Safe for arbitrary bytes; memory and time are linear in their number.
  package init(decoding bytes: [UInt8], _ words: RecordWords) throws(CodingError) {
    var reader = KeptReader(bytes, words)
    for _ in 0..<(try reader.body.count(of: 3)) {
      let path = try reader.path()
      short[path] = ListPiece(try reader.elements())
    }
    while reader.body.left > 0 {
      let path = try reader.path()
      let number = try reader.body.number()
      var pieces: [UInt32] = []
      for _ in 0..<(try reader.body.count(of: 1)) { pieces.append(try KeptDirectory.piece(&reader)) }
      lists[path] = List(number: number, pieces: pieces)
    }
  }

  private static func piece(_ reader: inout KeptReader) throws(CodingError) -> UInt32 {
    let start = reader.body.position
    guard let number = UInt32(exactly: try reader.body.number()) else { throw CodingError(.value, at: start) }
    return number
  }
}

extension KeptWriter {
  /// Writes the path to a list.
  fileprivate mutating func put(_ path: [PathStep.Place]) {
    body.put(path.count)
    for place in path {
      switch place {
      case .embedded(let name): put(name, bits: 0, of: 3)
      case .list(let name): put(name, bits: 1, of: 3)
      case .set(let name): put(name, bits: 2, of: 3)
      case .map(let name): put(name, bits: 3, of: 3)
      case .element(let id):
        body.put(byte: 4)
        put(id)
      case .entry(let key):
        body.put(byte: 5)
        body.put(key.text.utf8)
      }
    }
  }
}

extension KeptReader {
  fileprivate mutating func path() throws(CodingError) -> [PathStep.Place] {
    let start = body.position
    var path: [PathStep.Place] = []
    for _ in 0..<(try body.count(of: 1)) {
      let place = try place()
      guard path.count < Operation.depthMax, place.follows(path.last) else { throw CodingError(.path, at: start) }
      path.append(place)
    }
    guard case .list = path.last else { throw CodingError(.path, at: start) }
    return path
  }

  private mutating func place() throws(CodingError) -> PathStep.Place {
    let start = body.position
    let code = try body.number()
    switch code & 7 {
    case 0: return .embedded(try name(code >> 3, at: start))
    case 1: return .list(try name(code >> 3, at: start))
    case 2: return .set(try name(code >> 3, at: start))
    case 3: return .map(try name(code >> 3, at: start))
    case 4 where code == 4: return .element(try elementID())
    case 5 where code == 5: return .entry(try text())
    default: throw CodingError(.code(UInt8(truncatingIfNeeded: code)), at: start)
    }
  }
}
