/// The directory of an object's lists that have elements, and of the pieces that hold them. Each piece is an entry of its own, so
/// inserting one element does not rewrite a list of 100,000.
public struct ListDirectory: Hashable, Sendable {
  /// The pieces of one list.
  public struct List: Hashable, Sendable {
    /// Identifies the list in the file; never used for another list.
    public let number: UInt64
    /// The numbers of the pieces, in list order.
    public var pieces: [UInt32]

    /// Creates a list from its parts.
    public init(number: UInt64, pieces: [UInt32]) {
      self.number = number
      self.pieces = pieces
    }
  }

  /// The lists by their path from the object; each path ends with `.list`.
  public var lists: [[PathStep.Place]: List] = [:]

  /// Creates an empty directory.
  public init() {}

  /// The bytes of the directory. O(size).
  public func encoded() -> [UInt8] {
    var writer = TableWriter()
    let sorted = lists.sorted { $0.value.number < $1.value.number }
    writer.body.put(sorted.count)
    for (path, list) in sorted {
      writer.body.put(path.count)
      for place in path { writer.put(place) }
      writer.body.put(list.number)
      writer.body.put(list.pieces.count)
      for piece in list.pieces { writer.body.put(UInt64(piece)) }
    }
    return writer.finished(base: 0)
  }

  /// Decodes a directory. Safe for arbitrary bytes; memory and time are linear in their number.
  public init(decoding bytes: [UInt8]) throws(CodingError) {
    var reader = try TableReader(ByteReader(bytes), base: 0)
    for _ in 0..<(try reader.body.count(of: 3)) {
      let start = reader.body.position
      var path: [PathStep.Place] = []
      for _ in 0..<(try reader.body.count(of: 2)) {
        let place = try reader.place()
        guard path.count < Operation.depthMax, place.follows(path.last) else { throw CodingError(.path, at: start) }
        path.append(place)
      }
      guard case .list = path.last else { throw CodingError(.path, at: start) }
      let number = try reader.body.number()
      var pieces: [UInt32] = []
      for _ in 0..<(try reader.body.count(of: 1)) { pieces.append(try ListDirectory.piece(&reader)) }
      lists[path] = List(number: number, pieces: pieces)
    }
    try reader.body.end()
  }

  private static func piece(_ reader: inout TableReader) throws(CodingError) -> UInt32 {
    let start = reader.body.position
    guard let number = UInt32(exactly: try reader.body.number()) else { throw CodingError(.value, at: start) }
    return number
  }
}
