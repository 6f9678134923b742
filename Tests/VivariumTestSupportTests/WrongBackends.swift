import Foundation
import StorageInterface
import StorageReference
import StoreValues
import VivariumTestSupport

/// Backends with one planted fault each: what the conformance suite must not let pass.
enum WrongBackend: String, CaseIterable, Sendable {
  case losesNulls, flipsTheSignOfZero, losesFractionsOfDates, putsNaNLast, forgetsMultiplicity, losesLastElement
  case leaksUncommittedData, readsTheNewestVersion, ignoresSavepointRollback, dropsAHintedRow, countsIndexesTwice
  case ignoresUniqueness, breaksStatementAtomicity, forgetsAuthors, stopsTooLate, descendsOnlyByValue
  case readsOnAfterEnd, hidesDeletedObjects, clampsNothing
  case losesDigitsOfDecimals, keepsTheLaterMember, modifiesWhatIsEqual, forgetsMixedLinks
  case keepsUndoneSides, listsTheEndOfSides, losesEmptySides

  /// The group of rules that must find the fault.
  var group: String {
    switch self {
    case .losesNulls, .flipsTheSignOfZero, .losesFractionsOfDates, .losesDigitsOfDecimals: "values"
    case .keepsTheLaterMember, .modifiesWhatIsEqual: "members"
    case .forgetsMixedLinks: "mixed"
    case .keepsUndoneSides, .listsTheEndOfSides, .losesEmptySides: "sides"
    case .putsNaNLast, .countsIndexesTwice, .descendsOnlyByValue: "indexes"
    case .forgetsMultiplicity: "backlinks"
    case .losesLastElement, .clampsNothing: "lists"
    case .leaksUncommittedData: "writer"
    case .readsTheNewestVersion: "isolation"
    case .ignoresSavepointRollback: "savepoints"
    case .dropsAHintedRow: "hints"
    case .ignoresUniqueness, .breaksStatementAtomicity: "uniqueness"
    case .forgetsAuthors: "history"
    case .stopsTooLate: "scans"
    case .readsOnAfterEnd: "lifetimes"
    case .hidesDeletedObjects: "points"
    }
  }

  var backend: any StorageBackend {
    let fault = self
    return ForwardingBackend(ReferenceBackend()) { engine in
      ForwardingEngine(
        engine,
        read: { read in
          let now = fault == .readsTheNewestVersion ? engine : nil
          return WrongRead(fault, read, now)
        },
        write: { WrongWrite(fault, $0) })
    }
  }
}

/// The faults in reading, for snapshots and writes alike.
protocol WrongReading: ForwardingReading, SideReading {
  var fault: WrongBackend { get }
  var target: any StorageReading { get }
}

extension WrongReading {
  /// The faults are in the plain calls, and so whatever is found goes through these.
  var powers: StoragePowers { StoragePowers(sides: self) }

  func key(in index: IndexID, equal values: [Value]) throws(StorageError) -> ObjectKey? {
    var result: ObjectKey?
    try keys(in: index, IndexRange(equal: values), descending: false) { keys in
      result = ObjectKey(keys[0])
      return .stop
    }
    return result
  }

  func key(in index: IndexID, equalTo integer: Int64) throws(StorageError) -> ObjectKey? {
    try key(in: index, equal: [.int(integer)])
  }

  func word(_ column: ColumnID, _ key: ObjectKey) throws(StorageError) -> Int64? {
    if fault == .hidesDeletedObjects, try !target.contains(column.table, key) { return 0 }
    let word = try target.word(column, key)
    guard let type = target.catalog[column]?.schema.valueType else { return word }
    switch fault {
    case .losesNulls: return word ?? 0
    case .flipsTheSignOfZero: return type == .double && word == Int64.min ? 0 : word
    case .losesFractionsOfDates:
      guard type == .date, let word else { return word }
      return word / 1_000_000_000 * 1_000_000_000
    default: return word
    }
  }

  func bytes(
    _ column: ColumnID, _ key: ObjectKey, _ body: (UnsafeRawBufferPointer?) -> Void
  ) throws(StorageError) {
    let isDecimal = target.catalog[column]?.schema.valueType == .decimal
    guard fault == .losesDigitsOfDecimals, isDecimal else { return try target.bytes(column, key, body) }
    try target.bytes(column, key) { bytes in
      guard let bytes, case .decimal(let decimal) = Value(bytes: bytes, type: .decimal) else { return body(nil) }
      Value.decimal(decimal.isZero ? Decimal128.zero : decimal).withBytes(body)
    }
  }

  func sources(
    of target: ObjectLink, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    if fault == .forgetsMixedLinks, self.target.catalog[column]?.schema.valueType == .mixed { return }
    try self.target.sources(of: target, through: column, body)
  }

  func scan(
    _ table: TableID, _ columns: [PropertyID], from start: ObjectKey, hints: [ZoneHint],
    _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    var batches = 0
    try target.scan(table, columns, from: start, hints: hints) { batch in
      batches += 1
      if fault == .dropsAHintedRow, !hints.isEmpty, batches % 2 == 0 { return .proceed }
      let step = body(batch)
      return fault == .stopsTooLate ? .proceed : step
    }
  }

  func keys(
    in index: IndexID, _ range: IndexRange, descending: Bool, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    var all: [Int64] = []
    let ascends = fault == .descendsOnlyByValue
    try target.keys(in: index, range, descending: descending && !ascends) { block in
      all += block
      return .proceed
    }
    if ascends && descending { all.sort(by: >) }
    if fault == .putsNaNLast { all = try nanLast(all, index) }
    if !all.isEmpty { _ = all.withUnsafeBufferPointer(body) }
  }

  private func nanLast(_ keys: [Int64], _ index: IndexID) throws(StorageError) -> [Int64] {
    for table in target.catalog.tables {
      guard let entry = table.indexes.first(where: { $0.id == index }), entry.properties.count == 1 else { continue }
      var nans: [Int64] = []
      var others: [Int64] = []
      for key in keys {
        let value = try target.value(table.column(entry.properties[0]), ObjectKey(key))
        if case .double(let double) = value, double.isNaN { nans.append(key) } else { others.append(key) }
      }
      return others + nans
    }
    return keys
  }

  func count(in index: IndexID, _ range: IndexRange) throws(StorageError) -> Int {
    try target.count(in: index, range) * (fault == .countsIndexesTwice ? 2 : 1)
  }

  func elementCount(_ column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Int {
    let count = try target.elementCount(column, owner)
    return fault == .losesLastElement && count > 100 ? count - 1 : count
  }

  func elements(
    _ column: ColumnID, _ owner: ObjectKey, _ range: Range<Int>, _ body: (borrowing ColumnBatch) -> Step
  ) throws(StorageError) {
    let count = try target.elementCount(column, owner)
    if fault == .clampsNothing, range.lowerBound < 0 {
      throw StorageError(.indexOutOfRange, .statement, "The range \(range) is not in the list.")
    }
    let isShort = fault == .losesLastElement && count > 100
    let shown = isShort ? range.clamped(to: 0..<count - 1) : range
    try target.elements(column, owner, shown, body)
  }

  func sources(
    of target: ObjectKey, through column: ColumnID, _ body: (UnsafeBufferPointer<Int64>) -> Step
  ) throws(StorageError) {
    guard fault == .forgetsMultiplicity else { return try self.target.sources(of: target, through: column, body) }
    var all: [Int64] = []
    try self.target.sources(of: target, through: column) { block in
      for key in block where all.last != key { all.append(key) }
      return .proceed
    }
    if !all.isEmpty { _ = all.withUnsafeBufferPointer(body) }
  }

  func side(_ key: [UInt8], _ body: (UnsafeRawBufferPointer?) -> Void) throws(StorageError) {
    let isFaulty = fault == .losesEmptySides
    try target.powers.sides?.side(key) { body(isFaulty && $0?.isEmpty == true ? nil : $0) }
  }

  func sides(
    from start: [UInt8], below end: [UInt8]?, _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    try target.powers.sides?.sides(from: start, below: fault == .listsTheEndOfSides ? end.map { $0 + [0] } : end, body)
  }

  func history(after version: Version, _ body: (CommitRecord) -> Step) throws(StorageError) {
    try target.history(after: version) { record in
      var record = record
      if fault == .forgetsAuthors { record.author = nil }
      return body(record)
    }
  }
}

final class WrongRead: ForwardingRead, WrongReading {
  let base: any ReadTransaction
  let fault: WrongBackend
  private let engine: (any StorageEngine)?

  init(_ fault: WrongBackend, _ base: any ReadTransaction, _ engine: (any StorageEngine)?) {
    self.base = base
    self.fault = fault
    self.engine = engine
  }

  /// With the planted fault, whatever is newest when asked.
  var target: any StorageReading {
    guard let engine, let newest = try? engine.beginRead() else { return base }
    return newest
  }

  func contains(_ table: TableID, _ key: ObjectKey) throws(StorageError) -> Bool { try target.contains(table, key) }
  func count(_ table: TableID) throws(StorageError) -> Int { try target.count(table) }
  func end() { if fault != .readsOnAfterEnd { base.end() } }
}

final class WrongWrite: ForwardingWrite, WrongReading, SideWriting {
  var writePowers: WritePowers { WritePowers(sides: self) }
  private var putSides: [[UInt8]: [UInt8]] = [:]
  let base: any WriteTransaction
  let fault: WrongBackend

  init(_ fault: WrongBackend, _ base: any WriteTransaction) {
    self.base = base
    self.fault = fault
  }

  var target: any StorageReading { base }

  func insert(_ row: RowBuffer) throws(StorageError) -> ObjectKey {
    do { return try base.insert(row) } catch {
      if error.code == .uniqueViolation, let key = error.conflictingKey {
        if fault == .ignoresUniqueness { return key }
        if fault == .breaksStatementAtomicity { try base.delete(row.table, key) }
      }
      throw error
    }
  }

  func insert(member: Value, into column: ColumnID, _ owner: ObjectKey) throws(StorageError) -> Bool {
    if try base.insert(member: member, into: column, owner) { return true }
    guard fault == .keepsTheLaterMember else { return false }
    _ = try base.remove(member: member, from: column, owner)
    _ = try base.insert(member: member, into: column, owner)
    return false
  }

  func set(
    _ value: Value, forKey key: String, in column: ColumnID, _ owner: ObjectKey
  ) throws(StorageError) -> MemberChange.Kind? {
    let kind = try base.set(value, forKey: key, in: column, owner)
    return kind == nil && fault == .modifiesWhatIsEqual ? .modified : kind
  }

  func rollbackToSavepoint() throws(StorageError) {
    if fault == .ignoresSavepointRollback { try base.releaseSavepoint() } else { try base.rollbackToSavepoint() }
    guard fault == .keepsUndoneSides else { return }
    for (key, value) in putSides { try base.writePowers.sides?.setSide(key, value) }
  }

  func setSide(_ key: [UInt8], _ value: [UInt8]?) throws(StorageError) {
    try base.writePowers.sides?.setSide(key, value)
    putSides[key] = value
  }

  func end() {
    if fault == .leaksUncommittedData { _ = try? base.commit(CommitRecord(), .relaxed) }
    base.end()
  }
}
