/// Encodes records with values (a server's row, a page of a snapshot) or without (what a client keeps beside its objects, which hold the
/// values). Members of sets are always encoded, because they are keys.
extension ObjectRecord {
  /// The format version that `encoded(values:)` writes.
  public static let format: UInt8 = 1

  /// Encodes the record.
  ///
  /// - Parameter values: whether to write values; without them, the values are null when the record is decoded.
  public func encoded(values: Bool = true) -> [UInt8] {
    ObjectState(record: self, lists: []).encoded(values: values)
  }

  /// Decodes a record. Safe for arbitrary bytes; memory and time are linear in their number.
  public init(decoding bytes: [UInt8]) throws(CodingError) {
    let state = try ObjectState(decoding: bytes)
    guard state.lists.isEmpty else { throw CodingError(.trailing, at: bytes.count) }
    self = state.record
  }
}

extension ObjectState {
  /// Encodes the record, then its lists.
  public func encoded(values: Bool = true) -> [UInt8] {
    var writer = RecordWriter(values: values)
    writer.tables.body.put(record.lastSeq)
    writer.put(record.node)
    if record.node.guarding.seq == .pending { writer.put(record.beneath) }
    writer.tables.body.put(lists.count)
    for list in lists {
      writer.tables.body.put(list.path.count)
      for place in list.path { writer.tables.put(place) }
      writer.tables.body.put(list.elements.count)
      for element in list.elements { writer.put(element) }
    }
    return writer.finished()
  }

  /// Decodes a state. Safe for arbitrary bytes; memory and time are linear in their number.
  public init(decoding bytes: [UInt8]) throws(CodingError) {
    var reader = try RecordReader(bytes)
    let seq = try reader.tables.body.seq()
    var record = ObjectRecord(node: try reader.node(depth: 0), lastSeq: seq)
    if record.node.guarding.seq == .pending { record.beneath = try reader.guarding() }
    self.record = record
    var lists: [List] = []
    for _ in 0..<(try reader.tables.body.count(of: 2)) {
      let start = reader.tables.body.position
      var path: [PathStep.Place] = []
      for _ in 0..<(try reader.tables.body.count(of: 2)) {
        let place = try reader.tables.place()
        guard path.count < Operation.depthMax, place.follows(path.last) else { throw CodingError(.path, at: start) }
        path.append(place)
      }
      guard case .list = path.last else { throw CodingError(.path, at: start) }
      lists.append(List(path: path, elements: try reader.elements()))
    }
    self.lists = lists
    try reader.tables.body.end()
  }
}

extension ListPiece {
  /// The bytes of the piece. Equal pieces have equal bytes. O(size).
  ///
  /// - Parameter values: whether to write values; without them, the values are null when the piece is decoded.
  public func encoded(values: Bool = true) -> [UInt8] {
    var writer = RecordWriter(values: values)
    writer.tables.body.put(elements.count)
    for element in elements { writer.put(element) }
    return writer.finished()
  }

  /// Decodes a piece. Safe for arbitrary bytes; memory and time are linear in their number.
  public init(decoding bytes: [UInt8]) throws(CodingError) {
    var reader = try RecordReader(bytes)
    elements = try reader.elements()
    try reader.tables.body.end()
  }
}

extension ByteWriter {
  /// Writes the number plus 1, so that `.pending`, the maximal number, becomes 0 and takes one byte.
  mutating func put(_ seq: Seq) { put(seq.rawValue &+ 1) }
}

extension ByteReader {
  mutating func seq() throws(CodingError) -> Seq { Seq(try number() &- 1) }
}
