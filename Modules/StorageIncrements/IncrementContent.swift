import StorageCoordination
import StorageInterface
import StoreValues

/// Writes the entries of an increment: the commit records, and of the objects that they name what the version says.
final class IncrementContent {
  private static let bytesBetween = 4 << 20

  let read: any ReadTransaction
  let output: IncrementOutput
  private let path: String
  private let plan: IncrementPlan
  /// How many objects there are to write, as far as the history can be believed: for progress.
  private let total: Double
  /// How many objects were written, and at which size that was last reported.
  private var (done, reported) = (0, 0)

  init(_ read: any ReadTransaction, _ output: IncrementOutput, _ path: String, _ plan: IncrementPlan) {
    (self.read, self.output, self.path, self.plan) = (read, output, path, plan)
    total = plan.count
  }

  /// Writes everything, from the head to the last block.
  func write(
    _ head: IncrementHead, _ records: [CommitRecord], _ progress: (CopyProgress) -> Step
  ) throws(StorageError) {
    output.out.bytes += try head.encoded()
    try output.endEntry()
    if !output.out.bytes.isEmpty { try output.endBlock() }
    for record in records {
      output.out.put(tag: .record)
      let bytes = record.encoded()
      bytes.withUnsafeBytes { output.out.put(cell: $0) }
      if try output.endEntry() { try report(progress) }
    }
    var tables: [(entry: TableEntry, changes: IncrementPlan.Table)] = []
    for (id, changes) in plan.tables {
      guard let entry = read.catalog[id] else {
        throw StorageError(.corrupt, .statement, "The history is damaged: it names table \(id.rawValue), which is not in the catalog.")
      }
      tables.append((entry: entry, changes: changes))
    }
    for (table, changes) in tables { try putScalars(table, changes, progress) }
    for (table, changes) in tables {
      try putRows(table, changes.inserted.runs, progress)
    }
    for (table, changes) in tables { try putLinks(table, changes, progress) }
    output.out.put(tag: .end)
    output.out.put(output.entries)
    try output.endEntry()
    try output.endBlock(isLast: true)
    guard progress(CopyProgress(bytesWritten: output.bytesWritten, bytesExpected: output.bytesWritten)) == .proceed else {
      throw .copyStopped(path)
    }
  }

  /// Asks whether to go on, every few megabytes.
  private func report(_ progress: (CopyProgress) -> Step, objects: Int = 0) throws(StorageError) {
    done += objects
    let bytes = output.bytesWritten
    guard bytes - reported >= IncrementContent.bytesBetween else { return }
    reported = bytes
    // A damaged history may name more than anybody has.
    let estimate = done > 0 ? Double(bytes) * max(1, total / Double(done)) : 0
    let expected = Int(exactly: estimate.rounded()) ?? .max
    guard progress(CopyProgress(bytesWritten: bytes, bytesExpected: max(bytes, expected))) == .proceed else { throw .copyStopped(path) }
  }

  // MARK: Objects

  private func putScalars(
    _ table: TableEntry, _ changes: IncrementPlan.Table, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) {
    let columns = table.plainColumns
    for (key, properties) in changes.modified {
      for column in columns where properties.contains(column.id) { try put(.scalar, table, column, ObjectKey(key)) }
      try report(progress, objects: 1)
    }
  }

  /// All in one scan, however short the runs are: keys ascend, so between new objects there are none that were there before.
  private func putRows(
    _ table: TableEntry, _ runs: [ClosedRange<Int64>], _ progress: (CopyProgress) -> Step
  ) throws(StorageError) {
    guard let first = runs.first else { return }
    let columns = table.plainColumns
    var failure: StorageError?
    var (run, count) = (0, 0)
    // What the commits inserted and did not delete is there, so no key is missing.
    var next: Int64? = first.lowerBound
    try read.scan(table.id, columns.map(\.id), from: ObjectKey(first.lowerBound), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) {
        let key = batch.key(at: row).rawValue
        guard let wanted = next, key <= wanted else { return .stop }
        if key < wanted { continue }
        putRow(table, columns, key, batch, row)
        count += 1
        do throws(StorageError) {
          if try output.endEntry() {
            try report(progress, objects: count)
            count = 0
          }
        } catch {
          failure = error
          return .stop
        }
        if key < runs[run].upperBound {
          next = key + 1
        } else {
          run += 1
          next = run < runs.count ? runs[run].lowerBound : nil
        }
      }
      return next == nil ? .stop : .proceed
    }
    if let failure { throw failure }
    if let next { throw missing(table, next) }
    try report(progress, objects: count)
  }

  private func putRow(_ table: TableEntry, _ columns: [ColumnEntry], _ key: Int64, _ batch: borrowing ColumnBatch, _ row: Int) {
    output.out.put(tag: .row)
    output.out.put(UInt64(table.id.rawValue))
    output.out.putSigned(key)
    for (place, column) in columns.enumerated() { output.out.put(batch.columns[place], row, isWord: column.isWord) }
  }

  private func putLinks(
    _ table: TableEntry, _ changes: IncrementPlan.Table, _ progress: (CopyProgress) -> Step
  ) throws(StorageError) {
    let (links, collections) = (table.linkingColumns, table.collectionColumns)
    if links.isEmpty, collections.isEmpty { return }
    for (key, properties) in changes.modified {
      for column in links where properties.contains(column.id) { try put(.link, table, column, ObjectKey(key)) }
      for column in collections where properties.contains(column.id) { try putElements(table, column, ObjectKey(key)) }
      try report(progress)
    }
    for key in changes.inserted {
      for column in links { try put(.link, table, column, ObjectKey(key), skipsNull: true) }
      for column in collections { try putElements(table, column, ObjectKey(key)) }
      try report(progress)
    }
  }

  private func put(
    _ tag: IncrementTag, _ table: TableEntry, _ column: ColumnEntry, _ key: ObjectKey, skipsNull: Bool = false
  ) throws(StorageError) {
    let place = table.column(column.id)
    if column.isWord {
      let word = try read.word(place, key)
      if word == nil, skipsNull { return }
      putPlace(tag, place, key)
      output.out.put(word: word)
    } else {
      var isNull = false
      try read.bytes(place, key) { bytes in
        isNull = bytes == nil
        if isNull, skipsNull { return }
        putPlace(tag, place, key)
        output.out.put(cell: bytes)
      }
      if isNull, skipsNull { return }
    }
    try output.endEntry()
  }

  private func putElements(_ table: TableEntry, _ column: ColumnEntry, _ key: ObjectKey) throws(StorageError) {
    let place = table.column(column.id)
    if try read.elementCount(place, key) == 0 { return }
    let isMap = column.schema.isMap
    var part = VarintWriter()
    var (position, count) = (0, 0)
    var failure: StorageError?
    func endPart() throws(StorageError) {
      if count == 0 { return }
      putPlace(isMap ? .pairs : .elements, place, key)
      output.out.put(UInt64(position))
      output.out.put(UInt64(count))
      output.out.bytes += part.bytes
      try output.endEntry()
      (position, count) = (position + count, 0)
      part.bytes.removeAll(keepingCapacity: true)
    }
    try read.elements(place, key, 0..<Int.max) { batch in
      for row in 0..<batch.count {
        if isMap { part.put(cell: batch.columns[1].bytes(at: row)) }
        part.put(batch.columns[0], row, isWord: column.isWord)
        count += 1
        guard part.bytes.count >= IncrementFormat.blockBytes else { continue }
        do throws(StorageError) { try endPart() } catch {
          failure = error
          return .stop
        }
      }
      return .proceed
    }
    if let failure { throw failure }
    try endPart()
  }

  private func putPlace(_ tag: IncrementTag, _ place: ColumnID, _ key: ObjectKey) {
    output.out.put(tag: tag)
    output.out.put(UInt64(place.table.rawValue))
    output.out.put(UInt64(place.property.rawValue))
    output.out.putSigned(key.rawValue)
  }

  private func missing(_ table: TableEntry, _ key: Int64) -> StorageError {
    StorageError(
      .corrupt, .statement, "The history is damaged: it says that '\(table.name)' has an object #\(key), which is not there.",
      remedy: "Make a full copy.")
  }
}

extension VarintWriter {
  /// Puts an element of a column.
  mutating func put(_ column: ColumnVector, _ row: Int, isWord: Bool) {
    let isNull = column.isNull(at: row)
    if isWord { put(word: isNull ? nil : column.word(at: row)) } else { put(cell: isNull ? nil : column.bytes(at: row)) }
  }
}
