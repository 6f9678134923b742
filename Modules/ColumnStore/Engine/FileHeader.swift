import StorageInterface

/// The first entry of a file: its mark, its format, and the sizes chosen when it was made.
///
/// "VIVARIUM", format u32, rows per chunk u32, largest index block u32, largest entry of fresh rows u32.
struct FileHeader: Sendable {
  private static let mark: [UInt8] = Array("VIVARIUM".utf8)

  /// Of files that older builds made: 1 until the catalog needs more (`Catalog.formatNeeded`). Never lowered; another process may
  /// have raised it since, but not to `newest`.
  let format: Int
  let rowsPerChunk: Int
  let blockLimit: Int
  let freshLimit: Int

  /// The format of new files, and the highest that this build knows. It has all that the catalog may need.
  static let newest = 6

  /// Whether indexes have no entries of fresh rows. A file is born so or not: builds that do not know of it may be writing any
  /// other at the same time.
  var leavesFreshOut: Bool { format >= 6 }

  /// The header of a new file: a column of four bytes per row with a null bitmap fills one page, of eight bytes two.
  init(pageSize: Int, pageOverhead: Int) {
    format = FileHeader.newest
    let page = min(max(pageSize, 512), 65_536) - pageOverhead
    let width = pageSize <= 4_096 ? 4 : 8
    let rows = (page - ColumnHeader.size - 8) * 8 / (width * 8 + 1)
    rowsPerChunk = min(max(rows & ~15, 64), 4_000)
    blockLimit = page
    freshLimit = min(page, 4_096)
  }

  init(_ bytes: UnsafeRawBufferPointer) throws(StorageError) {
    guard let start = bytes.baseAddress, bytes.count >= 8, bytes.prefix(8).elementsEqual(FileHeader.mark) else {
      throw StorageError(.foreignFile, .engine, "The file is a database of another program.")
    }
    guard bytes.count >= 24 else { throw .corrupt("the header is cut off") }
    format = Int(start.number(8, as: UInt32.self))
    guard format <= FileHeader.newest else {
      throw StorageError(
        .unsupportedVersion, .engine, "The store has format \(format); this build knows up to \(FileHeader.newest).",
        remedy: "Open it with a newer build.")
    }
    rowsPerChunk = Int(start.number(12, as: UInt32.self))
    blockLimit = Int(start.number(16, as: UInt32.self))
    freshLimit = Int(start.number(20, as: UInt32.self))
    guard format > 0, rowsPerChunk % 8 == 0, (64...4_096).contains(rowsPerChunk), (256...1 << 20).contains(blockLimit),
      (256...1 << 16).contains(freshLimit)
    else { throw .corrupt("the header has impossible sizes") }
  }

  func encoded(format: Int) -> ValueBuffer {
    ValueBuffer(count: 24) { out in
      let start = out.baseAddress.unsafelyUnwrapped  // 24 bytes have an address
      out.copyBytes(from: FileHeader.mark)
      start.store(UInt32(format), at: 8)
      start.store(UInt32(rowsPerChunk), at: 12)
      start.store(UInt32(blockLimit), at: 16)
      start.store(UInt32(freshLimit), at: 20)
    }
  }
}
