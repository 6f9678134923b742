import SyncModel
import SyncProtocol

/// The differences of a store's log to what was stored last.
package struct TouchedLogRows: Sendable {
  package var objects: Set<ObjectIdentity> = []
  package var replicas: Set<ReplicaID> = []
  package var expired: Set<ReplicaID> = []
  package var handlers = false
  package var removedHandlers: Set<String> = []
  package var schema = false
  /// Of a part of a log the lowest place from which a handler has moved on: behind it, up to where all handlers are by now, previous states
  /// are forgotten.
  package var forgottenFrom: Seq?
  /// Of a whole log the numbers from the first to the last of the entries whose previous states were forgotten.
  package var forgotten: Range<UInt64> = 0..<0

  package init() {}

  /// Notes that the previous states of some entries were forgotten.
  mutating func forget(_ numbers: Range<UInt64>) {
    if numbers.isEmpty { return }
    forgotten =
      forgotten.isEmpty ? numbers : min(forgotten.lowerBound, numbers.lowerBound)..<max(forgotten.upperBound, numbers.upperBound)
  }
}

/// Stores a store's log as rows, small values by key; a change writes only the rows that it has touched.
///
/// | key | value |
/// |---|---|
/// | `h` | the history, where the log begins, the highest stamp, what was purged |
/// | `e`, number u64 | an entry: kind u8, of a refusal its replica, the bytes on the wire |
/// | `b`, number u64 | how the objects that an entry touched, or a purge forgot, were before it, until no handler begins before it |
/// | `c`, number u64 | the same, behind a checkpoint: of those objects that no entry since has touched. An entry with `b` begins one |
/// | `s`, number u64 | the highest stamp of an entry that no purge has covered |
/// | `o`, u64 | an object: its identity, and its state |
/// | `r`, replica u64 | a replica: secret, user, uploads, refusals, how far it is |
/// | `x`, replica u64 | a replica that was forgotten |
/// | `p` | all handlers of events |
/// | `t` | what the replicas have declared of their types, if anything |
///
/// Numbers in keys are big endian, those in values as in messages.
package struct StoreRows: Sendable {
  /// A row to write; nil deletes it.
  package typealias Row = (key: [UInt8], value: [UInt8]?)

  enum Space {
    static let head = UInt8(ascii: "h"), entry = UInt8(ascii: "e"), stamp = UInt8(ascii: "s"), object = UInt8(ascii: "o")
    static let before = UInt8(ascii: "b"), beforeSinceCheckpoint = UInt8(ascii: "c")
    static let replica = UInt8(ascii: "r"), expired = UInt8(ascii: "x"), handlers = UInt8(ascii: "p")
    static let schema = UInt8(ascii: "t")
  }

  /// The number of each stored object.
  private var numbers: [ObjectIdentity: UInt64] = [:]
  private var lastNumber: UInt64 = 0
  /// The stored part of the log: the entries after `start` up to `head`.
  private var stored: (start: Seq, head: Seq) = (.zero, .zero)
  /// The entries that have a row of previous states, and its kind.
  private var withBefore: [UInt64: UInt8] = [:]
  private var stamps: Set<Seq> = []
  private var covered = Seq.zero
  /// The bytes of each entry and object as they are stored, by number, and of all together.
  private var entryBytes: [UInt64: Int] = [:]
  private var objectBytes: [UInt64: Int] = [:]
  package private(set) var bytes = 0

  /// Creates the rows of a store that was never stored.
  package init() {}

  static func key(_ space: UInt8, _ number: UInt64) -> [UInt8] {
    [space] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }

  /// Returns the rows that bring the stored data up to date with the log, and clears the log's list of differences.
  package mutating func changes(of log: inout ServerLog) -> [Row] {
    var rows: [Row] = [([Space.head], log.headRow)]
    if log.logStart > stored.start {
      for number in stored.start.rawValue + 1..<min(log.logStart.rawValue, stored.head.rawValue) + 1 {
        rows.append((StoreRows.key(Space.entry, number), nil))
        bytes -= entryBytes.removeValue(forKey: number) ?? 0
        removeBefore(number, &rows)
      }
    }
    for number in max(log.logStart, stored.head).rawValue..<log.head.rawValue {
      let entry = log.log[Int(number - log.base.rawValue)]
      let row = entry.row(Seq(number + 1))
      rows.append((StoreRows.key(Space.entry, number + 1), row))
      note(entry: number + 1, row.count)
      guard let before = entry.before else { continue }
      let space = entry.goesOn(at: Seq(number + 1)) ? Space.beforeSinceCheckpoint : Space.before
      rows.append((StoreRows.key(space, number + 1), ObjectBefore.encoded(before)))
      withBefore[number + 1] = space
    }
    for number in log.touched.forgotten where number > log.base.rawValue && log.log[Int(number - log.base.rawValue) - 1].before == nil {
      removeBefore(number, &rows)
    }
    stored = (log.logStart, log.head)
    let uncovered = Dictionary(uniqueKeysWithValues: log.stamps.suffix(from: firstNewStamp(log)).map { ($0.seq, $0.stamp) })
    for (seq, stamp) in uncovered { rows.append((StoreRows.key(Space.stamp, seq.rawValue), stampRow(stamp))) }
    stamps.formUnion(uncovered.keys)
    // A purge covers everything up to its stable entry.
    if log.purged.stable > covered {
      for seq in stamps where seq <= log.purged.stable { rows.append((StoreRows.key(Space.stamp, seq.rawValue), nil)) }
      stamps = stamps.filter { $0 > log.purged.stable }
      covered = log.purged.stable
    }
    for object in log.touched.objects { rows.append(objectRow(object, log)) }
    for id in log.touched.replicas { rows.append((StoreRows.key(Space.replica, id.rawValue), log.replicas[id]?.row)) }
    for id in log.touched.expired { rows.append((StoreRows.key(Space.expired, id.rawValue), [])) }
    if log.touched.handlers { rows.append(([Space.handlers], log.handlersRow)) }
    if log.touched.schema { rows.append(([Space.schema], log.schema.encoded)) }
    log.touched = TouchedLogRows()
    return rows
  }

  /// The index of the first new stamp; new ones are at the end.
  private func firstNewStamp(_ log: ServerLog) -> Int {
    var index = log.stamps.count
    while index > 0, !stamps.contains(log.stamps[index - 1].seq) { index -= 1 }
    return index
  }

  private func stampRow(_ stamp: Stamp) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(stamp)
    return writer.bytes
  }

  private mutating func objectRow(_ object: ObjectIdentity, _ log: ServerLog) -> Row {
    let number: UInt64
    if let known = numbers[object] {
      number = known
    } else {
      lastNumber += 1
      number = lastNumber
      numbers[object] = number
    }
    guard let state = Merge.objectState(of: object, in: log.state) else {
      numbers[object] = nil
      bytes -= objectBytes.removeValue(forKey: number) ?? 0
      return (StoreRows.key(Space.object, number), nil)
    }
    var writer = ByteWriter()
    writer.put(ObjectIdentity.encode([object]))
    writer.put(raw: state.encoded())
    note(object: number, writer.bytes.count)
    return (StoreRows.key(Space.object, number), writer.bytes)
  }

  private mutating func removeBefore(_ number: UInt64, _ rows: inout [Row]) {
    if let space = withBefore.removeValue(forKey: number) { rows.append((StoreRows.key(space, number), nil)) }
  }

  private mutating func note(entry number: UInt64, _ count: Int) {
    bytes += count - (entryBytes.updateValue(count, forKey: number) ?? 0)
  }

  private mutating func note(object number: UInt64, _ count: Int) {
    bytes += count - (objectBytes.updateValue(count, forKey: number) ?? 0)
  }

  // MARK: reading

  /// Decodes the log from all rows, in the order of their keys. Safe for arbitrary bytes; memory and time are linear in their number.
  package mutating func log(of rows: [(key: [UInt8], value: [UInt8])]) throws(CodingError) -> ServerLog {
    var log = ServerLog(history: [])
    guard let head = rows.first(where: { $0.key == [Space.head] }) else { throw CodingError(.truncated, at: 0) }
    try log.readHead(head.value)
    var before: [UInt64: [ObjectBefore]] = [:]
    for (key, value) in rows {
      var reader = ByteReader(value)
      switch key.first {
      case Space.head: continue
      case Space.entry:
        let seq = Seq(try StoreRows.number(of: key))
        guard seq.rawValue == log.head.rawValue + 1 else { throw CodingError(.value, at: 0) }
        log.log.append(try ServerLog.Entry(row: value, seq))
        note(entry: seq.rawValue, value.count)
        continue
      case Space.before, Space.beforeSinceCheckpoint:
        let number = try StoreRows.number(of: key)
        before[number] = try ObjectBefore.decode(value)
        withBefore[number] = key.first
        continue
      case Space.stamp:
        let seq = Seq(try StoreRows.number(of: key))
        log.stamps.append((seq, try reader.stamp()))
        stamps.insert(seq)
      case Space.object:
        let number = try StoreRows.number(of: key)
        try readObject(number, &reader, &log)
        note(object: number, value.count)
      case Space.replica: log.replicas[ReplicaID(try StoreRows.number(of: key))] = try ServerLog.Replica(&reader)
      case Space.expired: log.expired.insert(ReplicaID(try StoreRows.number(of: key)))
      case Space.handlers: try log.readHandlers(&reader)
      case Space.schema:
        log.schema = try SyncSchema(decoding: value)
        continue
      default: throw CodingError(.code(key.first ?? 0), at: 0)
      }
      try reader.end()
    }
    for (number, objects) in before where number > log.logStart.rawValue && number <= log.head.rawValue {
      log.log[Int(number - log.logStart.rawValue) - 1].before = objects
    }
    log.findCheckpoints { withBefore[$0.rawValue] == Space.beforeSinceCheckpoint }
    (stored, covered) = ((log.logStart, log.head), log.purged.stable)
    log.order = ObjectOrder(log.state.records.keys)
    return log
  }

  private mutating func readObject(_ number: UInt64, _ reader: inout ByteReader, _ log: inout ServerLog) throws(CodingError) {
    guard let object = try ObjectIdentity.decode(Array(try reader.content())).first else { throw reader.error(.value) }
    let state = try ObjectState(decoding: Array(try reader.raw(reader.left)))
    Merge.replace(object, with: state, in: &log.state)
    numbers[object] = number
    lastNumber = max(lastNumber, number)
  }

  private static func number(of key: [UInt8]) throws(CodingError) -> UInt64 {
    guard key.count == 9 else { throw CodingError(.value, at: 0) }
    return key.dropFirst().reduce(0) { $0 << 8 | UInt64($1) }
  }
}
