import StorageInterface
import SyncModel

/// Up to which entry of the log a file has integrated: the side entry `s`, 0, with the number as 8 big endian bytes. Written by the
/// commit that integrates, so the two are never apart.
package enum SyncCursor {
  private static let key: [UInt8] = [UInt8(ascii: "s"), 0]

  /// `.zero` where nothing was integrated yet.
  package static func read(_ sides: any SideReading) throws(StorageError) -> Seq {
    let bytes = try sides.side(key) ?? []
    return Seq(bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// Nothing for an own change, which has no place in the log yet.
  package static func write(_ seq: Seq, _ sides: any SideWriting) throws(StorageError) {
    if seq == .pending { return }
    try sides.setSide(key, withUnsafeBytes(of: seq.rawValue.bigEndian) { Array($0) })
  }
}

/// What comes before a write is opened.
package enum Integration {
  /// The changesets of bytes; throws for the first that is none, and then there is nothing to integrate.
  package static func decoded(_ changesets: [[UInt8]]) throws(CodingError) -> [Changeset] {
    var decoded: [Changeset] = []
    for bytes in changesets { decoded.append(try Changeset(decoding: bytes)) }
    return decoded
  }
}
