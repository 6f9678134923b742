extension Changeset {
  /// The format version that `encoded()` writes.
  public static let format: UInt8 = 1

  /// The bytes of the changeset, as they are stored in the outbox, sent, and stored in the log. Equal changesets have equal bytes.
  /// O(size); of a changeset that keeps its bytes O(1).
  public func encoded() -> [UInt8] {
    if let kept { return kept }
    var head = ByteWriter()
    head.put(byte: Changeset.format)
    head.put(clientSeq)
    head.put(baseSeq.rawValue)
    head.put(byte: isContinued ? 1 : 0)
    head.put(fixed: schemaHash)
    head.put(first.time)
    head.put(fixed: first.replica.rawValue)
    var writer = TableWriter(author: author)
    writer.body.put(operations.count)
    for operation in operations { writer.put(operation) }
    head.put(raw: writer.finished(base: first.time))
    return head.bytes
  }

  /// Decodes a changeset. Safe for arbitrary bytes; memory and time are linear in their number.
  public init(decoding bytes: [UInt8]) throws(CodingError) {
    var reader = ByteReader(bytes)
    let format = try reader.byte()
    guard format == Changeset.format else { throw CodingError(.format(format), at: 0) }
    clientSeq = try reader.number()
    baseSeq = Seq(try reader.number())
    let start = reader.position
    let flags = try reader.byte()
    guard flags <= 1 else { throw CodingError(.code(flags), at: start) }
    isContinued = flags == 1
    schemaHash = try reader.fixed(UInt64.self)
    let time = reader.position
    let ticks = try reader.number()
    first = Stamp(time: ticks, replica: ReplicaID(try reader.fixed(UInt64.self)))
    var tables = try TableReader(reader, base: first.time, author: first.replica)
    let count = try tables.body.count(of: 3)
    guard first.time > 0, UInt64(count) <= UInt64.max - first.time else { throw CodingError(.time, at: time) }
    var operations: [Operation] = []
    for _ in 0..<count { operations.append(try tables.operation()) }
    try tables.body.end()
    self.operations = operations
  }
}
