import StorageInterface
import SyncModel

/// The changesets of a file that have not come back from the log, one entry each.
///
/// | key | value |
/// |---|---|
/// | `o`, number u64 | 1 where it is void, or 0; the changeset |
package enum Outbox {
  private static let space = UInt8(ascii: "o")
  /// Bytes of a changeset, about: a larger write becomes several, which belong together (`Changeset.isContinued`).
  package static let bytesMax = 1 << 20

  private static func key(_ clientSeq: UInt64) -> [UInt8] { [space] + SideName.bigEndian(clientSeq) }

  /// Puts what one write did. Gives its changesets the numbers after `standing.clientSeq`, which moves on.
  ///
  /// - Returns: the changesets.
  @discardableResult static func put(
    _ operations: [SyncModel.Operation], first: Stamp, base: Seq, schemaHash: UInt64, _ standing: inout ReplicaStanding,
    _ sides: any SideWriting
  ) throws(StorageError) -> [Changeset] {
    var all: [Changeset] = []
    var rest: [(range: Range<Int>, isContinued: Bool)] = [(operations.indices, false)]
    while let part = rest.popLast() {
      let changeset = Changeset(
        clientSeq: standing.clientSeq + 1, baseSeq: base, isContinued: part.isContinued, schemaHash: schemaHash,
        first: first.advanced(by: part.range.lowerBound), operations: Array(operations[part.range]))
      let bytes = changeset.encoded()
      if bytes.count > bytesMax, part.range.count > 1 {
        let middle = part.range.lowerBound + part.range.count / 2
        rest.append((middle..<part.range.upperBound, part.isContinued))
        rest.append((part.range.lowerBound..<middle, true))
        continue
      }
      standing.clientSeq += 1
      try sides.setSide(key(standing.clientSeq), [0] + bytes)
      all.append(changeset)
    }
    return all
  }

  /// What waits, the oldest first.
  ///
  /// - Parameters:
  ///   - start: the first number wanted.
  ///   - bytesMax: about how many bytes to read; one changeset at least.
  package static func pending(
    from start: UInt64 = 0, bytesMax: Int = .max, _ sides: any SideReading
  ) throws(StorageError) -> PendingChangesets {
    var found: [[UInt8]] = []
    var bytes = 0
    try sides.sides(from: key(start), below: [space + 1]) { _, value in
      found.append(Array(value))
      bytes += value.count
      return bytes < bytesMax ? .proceed : .stop
    }
    var pending = PendingChangesets()
    for bytes in found {
      pending.append(try changeset(bytes), isVoid: bytes.first == 1)
    }
    return pending
  }

  /// One changeset; nil where it does not wait any more. O(log n).
  package static func changeset(_ clientSeq: UInt64, _ sides: any SideReading) throws(StorageError) -> Changeset? {
    try sides.side(key(clientSeq)).map { bytes throws(StorageError) in try changeset(bytes) }
  }

  private static func changeset(_ bytes: [UInt8]) throws(StorageError) -> Changeset {
    try reading("outbox") { () throws(CodingError) in try Changeset(decoding: Array(bytes.dropFirst())) }
  }

  /// Makes the file's outbox what became of it: takes out what is settled, and marks what is void.
  static func update(
    from old: PendingChangesets, to new: PendingChangesets, _ sides: any SideWriting
  ) throws(StorageError) {
    let kept = Dictionary(uniqueKeysWithValues: new.all.map { ($0.changeset.clientSeq, $0.isVoid) })
    for pending in old.all {
      let number = pending.changeset.clientSeq
      guard let isVoid = kept[number] else {
        try remove(number, sides)
        continue
      }
      if isVoid != pending.isVoid { try sides.setSide(key(number), [1] + pending.changeset.encoded()) }
    }
  }

  /// A changeset came back from the log: there is nothing more to be done for it.
  package static func remove(_ clientSeq: UInt64, _ sides: any SideWriting) throws(StorageError) { try sides.setSide(key(clientSeq), nil) }
}
