import StorageInterface
import SyncModel

/// The last entry of the log that a file has integrated: the side entry `s`, 0, with the number as 8 big endian bytes. The commit that
/// integrates writes it, so the two always agree.
package enum SyncCursor {
  private static let key: [UInt8] = [UInt8(ascii: "s"), 0]

  /// Returns `.zero` if nothing was integrated yet.
  package static func read(_ sides: any SideReading) throws(StorageError) -> Seq {
    let bytes = try sides.side(key) ?? []
    return Seq(bytes.reduce(0) { $0 << 8 | UInt64($1) })
  }

  /// No effect for an own change, which is not in the log yet.
  package static func write(_ seq: Seq, _ sides: any SideWriting) throws(StorageError) {
    if seq == .pending { return }
    try sides.setSide(key, withUnsafeBytes(of: seq.rawValue.bigEndian) { Array($0) })
  }
}

/// What is done before a write begins.
package enum Integration {
  /// Decodes changesets; throws for the first that is invalid, and then there is nothing to integrate.
  package static func decoded(_ changesets: [[UInt8]]) throws(CodingError) -> [Changeset] {
    var decoded: [Changeset] = []
    for bytes in changesets { decoded.append(try Changeset(decoding: bytes)) }
    return decoded
  }
}
