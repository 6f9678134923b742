import StorageInterface
import StoreValues

/// The bytes after a commit record in its entry: the chunks that the commit wrote besides those of the values it names
/// (Docs/FileFormat.md, "Commit records"). 0 u8 and for each run of chunks its table u16, first and last number u64; or 1 u8 if
/// the writes are unspecified. No bytes: a build without this extension wrote the record.
extension TouchedChunks {
  private static let runSize = 18

  var encoded: [UInt8] {
    if isEverything { return [1] }
    var out: [UInt8] = [0]
    for table in tables {
      for run in table.whole.runs {
        withUnsafeBytes(of: table.id.rawValue.littleEndian) { out.append(contentsOf: $0) }
        withUnsafeBytes(of: run.lowerBound.littleEndian) { out.append(contentsOf: $0) }
        withUnsafeBytes(of: run.upperBound.littleEndian) { out.append(contentsOf: $0) }
      }
    }
    return out
  }

  /// The chunks of which a commit wrote more than it names. Absent or malformed bytes mean everything.
  init(encoded bytes: UnsafeRawBufferPointer) {
    self.init()
    guard let start = bytes.baseAddress, !bytes.isEmpty, bytes[0] == 0, (bytes.count - 1) % TouchedChunks.runSize == 0 else {
      self = .everything
      return
    }
    // Runs of one table are adjacent, so each table is sorted once.
    var gathered: (table: TableID, runs: [ClosedRange<Int64>]) = (TableID(0), [])
    for at in stride(from: 1, to: bytes.count, by: TouchedChunks.runSize) {
      let table = TableID(start.number(at, as: UInt16.self))
      let (first, last): (Int64, Int64) = (start.number(at + 2), start.number(at + 10))
      guard first >= 0, first <= last, last < .max else {
        self = .everything
        return
      }
      if table != gathered.table {
        insert(gathered.table, gathered.runs)
        gathered = (table, [])
      }
      gathered.runs.append(first...last)
    }
    insert(gathered.table, gathered.runs)
  }
}

extension TouchedChunks {
  /// The chunks by a commit's entry; throws if its record cannot be read.
  init(entry: UnsafeRawBufferPointer, version: Version, rowsPerChunk: Int) throws(StorageError) {
    var rest = UnsafeRawBufferPointer(start: nil, count: 0)
    let record = try CommitRecord(version: version, encoded: entry, rest: &rest)
    self.init(of: record, rowsPerChunk: rowsPerChunk)
    formUnion(TouchedChunks(encoded: rest))
  }
}
