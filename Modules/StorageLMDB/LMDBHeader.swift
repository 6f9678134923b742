#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface

/// The contents of a file's first pages, read before LMDB maps it: LMDB trusts them, and access beyond the end of a mapped file
/// ends in a signal.
struct LMDBHeader {
  enum Kind: Equatable {
    /// No bytes: a file that was created and not used yet.
    case empty
    case database
    /// An LMDB file with a layout that this build does not support.
    case otherLayout(UInt32)
    case foreign
    /// An LMDB file that lacks required pages.
    case damaged
  }

  let kind: Kind

  /// Reads the header of the file. Throws the errors of opening it.
  init(path: String) throws(StorageError) {
    // Opening and closing it would drop the process's locks on it, and with them the protection of its readers.
    if LMDBEnvironment.table.isLockFile(path) || HeldFiles.contains(path) {
      kind = .foreign
      return
    }
    // Non-blocking: a pipe has no header, and might never get a writer.
    let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    guard file >= 0 else { throw LMDBFiles.openError(errno, path) }
    defer { close(file) }
    var info = stat()
    guard fstat(file, &info) == 0 else { throw LMDBFiles.openError(errno, path) }
    if info.st_mode & S_IFMT == S_IFDIR { throw LMDBFiles.openError(EISDIR, path) }
    guard info.st_mode & S_IFMT == S_IFREG else {
      kind = .foreign
      return
    }
    if info.st_size == 0 {
      kind = .empty
      return
    }
    guard let first = LMDBMeta(file, offset: 0) else {
      kind = try LMDBHeader.wasDatabase(file, path) ? .damaged : .foreign
      return
    }
    guard first.layout == LMDBMeta.layout else {
      kind = .otherLayout(first.layout)
      return
    }
    kind = LMDBHeader.areSound(file, first) && LMDBHeader.isWhole(file, first) ? .database : .damaged
  }

  /// Whether a file without LMDB's first page is one that was damaged there: it has the second, or what the safe point beside it leads to.
  private static func wasDatabase(_ file: Int32, _ path: String) throws(StorageError) -> Bool {
    if !LMDBMeta.sound(file).isEmpty { return true }
    guard let files = LMDBFiles(existing: path), let point = SafePointFile.point(of: files) else { return false }
    return try point.belongs(to: files)
  }

  /// Whether the two meta pages are consistent with LMDB's alternating writes: it uses the one with the higher number, and if
  /// that is damaged, the other may be the previous version. Each begins with the number of its page: a copy of the other, right in
  /// itself, would take the last commit back in silence.
  private static func areSound(_ file: Int32, _ first: LMDBMeta) -> Bool {
    // A writer may be changing the file.
    for _ in 0..<64 {
      guard let one = LMDBMeta(file, offset: 0), let two = LMDBMeta(file, offset: first.pageSize) else { return false }
      let (a, b) = (one.transaction, two.transaction)
      // Equal in a new file or after restoring a safe point; otherwise consecutive, each on its own page.
      let areNeighbours = a == b || (max(a, b) - min(a, b) == 1 && a % 2 == 0)
      let areInPlace = one.page == 0 && two.page == 1
      if areNeighbours, areInPlace, one.isSound, two.isSound, one.pageSize == two.pageSize { return true }
    }
    return false
  }

  private static let pagesMax: UInt64 = 1 << 40

  /// Whether the file contains the pages that LMDB would access. Costs two reads, or a walk over the trees' inner pages and
  /// leaves if the file ends before the last page ever allocated (which is common, because pages may be freed before they are
  /// written).
  private static func isWhole(_ file: Int32, _ first: LMDBMeta) -> Bool {
    // A writer may be changing the file; then the walk is repeated.
    for _ in 0..<8 {
      guard let one = LMDBMeta(file, offset: 0), one.pageSize == first.pageSize,
        let two = LMDBMeta(file, offset: one.pageSize)
      else { return false }
      let newest = one.transaction >= two.transaction ? one : two
      if hasPages(of: newest, file) { return true }
      let now = [LMDBMeta(file, offset: 0), LMDBMeta(file, offset: one.pageSize)].compactMap { $0?.transaction }.max()
      if now == newest.transaction { return false }
    }
    return true
  }

  /// Whether the file contains the pages that LMDB would access with a meta page.
  static func hasPages(of meta: LMDBMeta, _ file: Int32) -> Bool {
    let count = pageCount(file, meta.pageSize)
    if meta.lastPage < count { return true }
    // More than any map has; this also prevents overflows below.
    if meta.lastPage > LMDBHeader.pagesMax { return false }
    var walk = LMDBPageWalk(file: file, pageSize: meta.pageSize, pageCount: count)
    return meta.roots.allSatisfy { walk.isWhole($0, depth: 0) }
  }

  /// How many whole pages the file has; 0 if it does not say.
  static func pageCount(_ file: Int32, _ pageSize: Int) -> UInt64 {
    var info = stat()
    return fstat(file, &info) == 0 ? UInt64(max(0, info.st_size)) / UInt64(pageSize) : 0
  }

  /// Throws if the file cannot be opened as a database.
  func check(path: String) throws(StorageError) {
    switch kind {
    case .empty, .database: return
    case .otherLayout(let found):
      throw StorageError(
        .unsupportedVersion, .engine, "'\(path)' is an LMDB file of layout \(found).",
        remedy: "Open it with the version of LMDB that wrote it.")
    case .foreign:
      throw StorageError(
        .foreignFile, .engine, "'\(path)' is not an LMDB file.",
        remedy: "Give the path of a store, or of a file that does not exist yet.")
    case .damaged:
      throw StorageError(
        .corrupt, .engine, "'\(path)' is damaged: its first pages are not what LMDB writes, or pages that they need lie beyond its end.",
        remedy: "Restore the store from a copy, or copy what can still be read into a new store with 'inspect salvage'.")
    }
  }
}

/// One of the two meta pages, on 64-bit systems: a page header of 16 bytes, magic and layout, address and size of the map, two
/// tree records of 48 bytes (free pages, data), the last page allocated, the transaction.
struct LMDBMeta {
  static let layout: UInt32 = 1
  static let pageSizeOffset = 40
  /// LMDB's own number, in its lock file too.
  static let magic: UInt32 = 0xBEEF_C0DE
  private static let size = 152
  private static let pageSizes = [4096, 8192, 16384, 32768, 65536]

  /// The page that it says it is, 0 or 1.
  let page: UInt64
  let layout: UInt32
  let pageSize: Int
  let lastPage: UInt64
  let transaction: UInt64
  /// Whether all fields are plausible: the kind, depth and root of the trees.
  let isSound: Bool
  /// The roots of the non-empty trees.
  let roots: [UInt64]
  /// The root of the tree of entries; nil without entries.
  let dataRoot: UInt64?
  /// The part of the page that LMDB reads.
  let bytes: [UInt8]

  /// The valid meta pages, even if the first is invalid.
  static func both(_ file: Int32) -> [LMDBMeta] {
    if let first = LMDBMeta(file, offset: 0) { return [first, LMDBMeta(file, offset: first.pageSize)].compactMap { $0 } }
    return pageSizes.compactMap { LMDBMeta(file, offset: $0) }
  }

  /// The meta pages that are what LMDB writes, each taken by itself and in its place: none, one, or both.
  static func sound(_ file: Int32) -> [LMDBMeta] {
    func at(_ offset: Int, _ page: UInt64) -> LMDBMeta? {
      guard let meta = LMDBMeta(file, offset: offset), meta.isSound, meta.layout == layout, meta.page == page else { return nil }
      return page == 0 || meta.pageSize == offset ? meta : nil
    }
    let first = at(0, 0)
    // Without the first, the second says itself where it belongs.
    let second = (first.map { [$0.pageSize] } ?? pageSizes).lazy.compactMap { at($0, 1) }.first
    return [first, second].compactMap { $0 }
  }

  /// Nil if there is no meta page.
  init?(_ file: Int32, offset: Int) {
    var bytes = [UInt8](repeating: 0, count: LMDBMeta.size)
    let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, LMDBMeta.size, off_t(offset)) }
    guard count == LMDBMeta.size else { return nil }
    self.init(bytes)
  }

  /// Nil if the bytes are not a meta page.
  init?(_ bytes: [UInt8]) {
    guard bytes.count == LMDBMeta.size else { return nil }
    func word<T: FixedWidthInteger>(_ at: Int, as type: T.Type) -> T {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: at, as: type) }
    }
    guard word(16, as: UInt32.self) == LMDBMeta.magic else { return nil }
    page = word(0, as: UInt64.self)
    layout = word(20, as: UInt32.self)
    pageSize = Int(word(LMDBMeta.pageSizeOffset, as: UInt32.self))
    roots = [word(80, as: UInt64.self), word(128, as: UInt64.self)].filter { $0 != .max }
    dataRoot = word(128, as: UInt64.self) == .max ? nil : word(128, as: UInt64.self)
    lastPage = word(136, as: UInt64.self)
    transaction = word(144, as: UInt64.self)
    self.bytes = bytes
    isSound = LMDBMeta.isSound(bytes)
    guard (512...65536).contains(pageSize), pageSize.nonzeroBitCount == 1 else { return nil }
  }

  private static func isSound(_ bytes: [UInt8]) -> Bool {
    func word<T: FixedWidthInteger>(_ at: Int, as type: T.Type) -> T {
      bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: at, as: type) }
    }
    // No file has so many transactions, and beyond them numbers would not be numbers of Swift's.
    let isMeta = word(0, as: UInt64.self) < 2 && word(10, as: UInt16.self) == 8 && word(144, as: UInt64.self) < 1 << 62
    let last = word(136, as: UInt64.self)
    // Free pages are keyed by numbers.
    let flags = (spare: word(44, as: UInt16.self) & 0x3FFF, entries: word(92, as: UInt16.self))
    return isMeta && flags == (8, 0) && [40, 88].allSatisfy { record in
      let (depth, root) = (word(record + 6, as: UInt16.self), word(record + 40, as: UInt64.self))
      let entries = word(record + 32, as: UInt64.self)
      return root == .max ? depth == 0 && entries == 0 : root >= 2 && root <= last && (1...32).contains(depth) && entries > 0
    }
  }
}
