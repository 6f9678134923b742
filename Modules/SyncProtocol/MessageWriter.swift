import SyncModel

extension ByteWriter {
  package mutating func put(_ text: String) { put(text.utf8) }

  package mutating func put(_ stamp: Stamp) {
    put(stamp.time)
    put(fixed: stamp.replica.rawValue)
  }

  package mutating func put(seq: Seq) { put(seq.rawValue) }
}

extension ByteReader {
  package mutating func bytes() throws(CodingError) -> [UInt8] { Array(try content()) }

  /// A given number of bytes.
  package mutating func bytes(_ count: Int) throws(CodingError) -> [UInt8] { Array(try raw(count)) }

  package mutating func stamp() throws(CodingError) -> Stamp {
    let time = try number()
    return Stamp(time: time, replica: ReplicaID(try fixed(UInt64.self)))
  }

  package mutating func logSeq() throws(CodingError) -> Seq { Seq(try number()) }

  package mutating func small<N: FixedWidthInteger & UnsignedInteger>(_: N.Type) throws(CodingError) -> N {
    let start = position
    guard let value = N(exactly: try number()) else { throw CodingError(.number, at: start) }
    return value
  }

  package mutating func flag() throws(CodingError) -> Bool {
    let start = position
    let code = try byte()
    guard code <= 1 else { throw CodingError(.code(code), at: start) }
    return code == 1
  }

  /// Bytes that another type decodes; its errors name their position in the whole.
  package mutating func nested<T>(_ decode: ([UInt8]) throws(CodingError) -> T) throws(CodingError) -> T {
    let content = try content()
    let start = position - content.count
    do { return try decode(Array(content)) } catch { throw CodingError(error.reason, at: start + error.position) }
  }
}
