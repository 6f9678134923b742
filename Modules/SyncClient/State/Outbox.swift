import StorageInterface
import SyncModel

/// The changesets of a file that have not returned from the log, one entry each.
///
/// | key | value |
/// |---|---|
/// | `o`, number u64 | 1 where it is void, or 0; the changeset |
package enum Outbox {
  private static let space = UInt8(ascii: "o")
  /// The approximate maximal size of a changeset in bytes: a larger write becomes several changesets that belong together
  /// (`Changeset.isContinued`).
  package static let bytesMax = 1 << 20

  /// The maximal size in bytes of a changeset with a single operation: it must fit one message.
  package static let valueBytesMax = 15 << 20
  /// The maximal size of a write in bytes.
  package static let writeBytesMax = 256 << 20

  private static func tooLarge(_ bytes: Int) -> StorageError {
    StorageError(
      .tooLarge, .transaction, "The write is too large for other replicas: it has \(bytes) bytes or more.",
      remedy: "Keep values below \(valueBytesMax >> 20) MiB, and divide a write of more than \(writeBytesMax >> 20) MiB.")
  }

  /// The key after all entries.
  static var end: [UInt8] { [space + 1] }

  static func key(_ clientSeq: UInt64) -> [UInt8] { [space] + SideName.bigEndian(clientSeq) }

  /// Stores the operations of one write as changesets, numbered from `standing.clientSeq` + 1, and advances that.
  ///
  /// - Returns: the changesets.
  @discardableResult static func put(
    _ operations: [SyncModel.Operation], first: Stamp, base: Seq, schemaHash: UInt64, _ standing: inout ReplicaStanding,
    _ sides: any SideWriting
  ) throws(StorageError) -> [Changeset] {
    var all: [Changeset] = []
    var rest: [(range: Range<Int>, isContinued: Bool)] = [(operations.indices, false)]
    var total = 0
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
      total += bytes.count
      guard bytes.count <= valueBytesMax, total <= writeBytesMax else { throw tooLarge(total) }
      standing.clientSeq += 1
      try sides.setSide(key(standing.clientSeq), [0] + bytes)
      all.append(changeset)
    }
    return all
  }

  /// The pending changesets, the oldest first.
  ///
  /// - Parameters:
  ///   - start: the first number to read.
  ///   - bytesMax: about how many bytes to read; at least one changeset.
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

  /// The pending entries after a number, as they are sent: whole writes, about the given number of bytes and at least one write.
  package static func entries(after clientSeq: UInt64, bytes: Int, _ sides: any SideReading) throws(StorageError) -> [OutboxEntry] {
    var found: [(changeset: Changeset, isVoid: Bool, bytes: Int)] = []
    var (size, isInside) = (0, false)
    var fault: StorageError?
    try sides.sides(from: key(clientSeq &+ 1), below: [space + 1]) { _, value in
      if size > 0, size + value.count > bytes, !isInside { return .stop }
      do throws(StorageError) {
        let read = try changeset(Array(value))
        found.append((read, value.first == 1, value.count - 1))
        (size, isInside) = (size + value.count, read.isContinued && value.first != 1)
        return .proceed
      } catch {
        fault = error
        return .stop
      }
    }
    if let fault { throw fault }
    var entries: [OutboxEntry] = []
    var write: (changesets: [Changeset], bytes: Int) = ([], 0)
    for (changeset, isVoid, bytes) in found {
      if !isVoid { write = (write.changesets + [changeset], write.bytes + bytes) }
      if !write.changesets.isEmpty, isVoid || !changeset.isContinued {
        entries.append(.write(write.changesets, bytes: write.bytes))
        write = ([], 0)
      }
      if isVoid { entries.append(.void(clientSeq: changeset.clientSeq, objects: changeset.objects.sorted())) }
    }
    return entries
  }

  /// One changeset; nil if it is no longer pending. O(log n).
  package static func changeset(_ clientSeq: UInt64, _ sides: any SideReading) throws(StorageError) -> Changeset? {
    try sides.side(key(clientSeq)).map { bytes throws(StorageError) in try changeset(bytes) }
  }

  private static func changeset(_ bytes: [UInt8]) throws(StorageError) -> Changeset {
    try reading("outbox") { () throws(CodingError) in try Changeset(decoding: Array(bytes.dropFirst())) }
  }

  /// Updates the stored outbox: removes settled changesets, and marks void ones.
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

  /// Removes a changeset that returned from the log.
  package static func remove(_ clientSeq: UInt64, _ sides: any SideWriting) throws(StorageError) { try sides.setSide(key(clientSeq), nil) }
}
