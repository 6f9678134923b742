import CVivariumSQLite
import StorageInterface

/// An open file of an encrypted store, between SQLite, which reads and writes plain pages, and the file, which has them
/// encrypted. A page keeps its size, because SQLite leaves `overhead` bytes free at the end of each.
///
/// **The main file**: page 1 begins with 100 plain bytes, which are authenticated with the rest. **The log**: its header and
/// the 24 bytes before each page have page numbers in plain; SQLite's checksums of the plain pages are hidden (`LogMask`).
///
/// One thread at a time, as the connection that it belongs to.
final class SealedFile {
  enum Kind: UInt8 {
    case main = 1
    case log = 2
    /// The journal of a file that `VACUUM INTO` creates: there are no old pages to keep, so it has only a header.
    case journal = 3
  }

  static let frameHeader = 24
  static let logHeader = 32
  static let journalHeader = 28

  let kind: Kind
  let base: UnsafeMutablePointer<sqlite3_file>
  let seal: FileSeal
  let cipher: any PageCipher
  private let name: String
  private let mark: SealMark
  /// A main file that its maker is filling, without a log.
  private let isNew: Bool
  /// 0 until known.
  var pageSize = 0
  /// Whether the log's header says that checksums are hidden: in a log of an earlier build they are not.
  var isMasked = false
  private var page: [UInt8] = []
  private var context = [UInt8](repeating: 0, count: 5 + SealMark.headerCount)
  /// The position and page number of the last frame header written. Only for the write that follows it.
  var lastFrame: (place: Int64, page: UInt32)?

  /// Takes over a file that `base` has opened.
  init(_ kind: Kind, _ base: UnsafeMutablePointer<sqlite3_file>, _ seal: FileSeal, _ name: String) throws(StorageError) {
    (self.kind, self.base, self.seal, self.name) = (kind, base, seal, name)
    var header = [UInt8](repeating: 0, count: SealMark.headerCount)
    let code = header.withUnsafeMutableBytes { base.read($0, 0) }
    switch kind {
    case .main:
      if code == SQLITE_OK, let mark = header.withUnsafeBytes({ SealMark($0) }) {
        (self.mark, cipher, isNew) = (mark, try seal.cipher(mark.salt), false)
        pageSize = SealedFile.pageSize(header)
      } else {
        (mark, cipher) = try seal.current()
        isNew = true
      }
    case .log:
      (mark, cipher) = try seal.current()
      isNew = false
      pageSize = SealedFile.number(header, 8)
      isMasked = LogMask.isMarked(header)
    case .journal:
      (mark, cipher) = try seal.current()
      isNew = false
    }
  }

  /// As `xRead`.
  func read(_ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Int32 {
    switch kind {
    case .main: readMain(bytes, offset)
    case .log: readLog(bytes, offset)
    case .journal: base.read(bytes, offset)
    }
  }

  /// As `xWrite`.
  func write(_ bytes: UnsafeRawBufferPointer, _ offset: Int64) -> Int32 {
    switch kind {
    case .main: writeMain(bytes, offset)
    case .log: writeLog(bytes, offset)
    case .journal: writeJournal(bytes, offset)
    }
  }

  // MARK: The main file

  private func readMain(_ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Int32 {
    // SQLite reads any part of the header.
    if offset + Int64(bytes.count) <= SealMark.headerCount {
      let code = base.read(bytes, offset)
      if code == SQLITE_OK { SealMark.remove(from: bytes, at: Int(offset)) }
      return code
    }
    if pageSize == 0 { learnPageSize() }
    guard pageSize > 0 else {
      // A new file without a page, or none of SQLite's.
      let code = base.read(bytes, offset)
      return code == SQLITE_OK ? SealedFile.misuse : code
    }
    let start = Int(offset % Int64(pageSize))
    if start == 0, bytes.count == pageSize { return readPage(bytes, offset) }
    // From 3.45 on SQLite reads pages of a long value past its cache, and of each no more than it needs.
    guard start + bytes.count <= pageSize else { return SealedFile.misuse }
    return withUnsafeTemporaryAllocation(byteCount: pageSize, alignment: 8) { whole in
      let code = readPage(whole, offset - Int64(start))
      if code == SQLITE_OK {
        bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: whole[start..<start + bytes.count]))
      } else {
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
      }
      return code
    }
  }

  /// Reads a whole page, at its place.
  private func readPage(_ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Int32 {
    let number = offset / Int64(pageSize) + 1
    let code = base.read(bytes, offset)
    // SQLite would take the missing rest for zeroes. It asks this file for no page that it never had: what only the log has is read
    // there, and a page that is new is not read, unless the file is.
    if code == SealedFile.shortRead, !isNew { return damaged("page \(number)") }
    guard code == SQLITE_OK else { return code }
    let isOpen = open(bytes, UInt32(truncatingIfNeeded: number), plain: number == 1 ? SealMark.headerCount : 0)
    return isOpen ? SQLITE_OK : damaged("page \(number)")
  }

  /// Reads the page size from the file's header, which another connection may have written.
  private func learnPageSize() {
    var header = [UInt8](repeating: 0, count: SealMark.headerCount)
    if header.withUnsafeMutableBytes({ base.read($0, 0) }) == SQLITE_OK { pageSize = SealedFile.pageSize(header) }
  }

  private func writeMain(_ bytes: UnsafeRawBufferPointer, _ offset: Int64) -> Int32 {
    // In a new file, any page may be written first.
    if pageSize == 0 || offset == 0 { pageSize = bytes.count }
    guard pageSize > SealMark.headerCount, bytes.count == pageSize, offset % Int64(pageSize) == 0 else { return SealedFile.misuse }
    let number = offset / Int64(pageSize) + 1
    return write(bytes, UInt32(truncatingIfNeeded: number), plain: number == 1 ? SealMark.headerCount : 0, at: offset)
  }

  /// Only a header, no plain page.
  private func writeJournal(_ bytes: UnsafeRawBufferPointer, _ offset: Int64) -> Int32 {
    bytes.dropFirst(SealedFile.journalHeader).allSatisfy { $0 == 0 } ? base.write(bytes, offset) : SealedFile.misuse
  }

  // MARK: Pages

  /// Decrypts a page in place; its first `plain` bytes are not encrypted.
  func open(_ bytes: UnsafeMutableRawBufferPointer, _ number: UInt32, plain: Int) -> Bool {
    let overhead = cipher.overhead
    guard bytes.count > plain + overhead else { return false }
    // Another file in its place, or a damaged header.
    if plain > 0, SealMark(UnsafeRawBufferPointer(bytes)) != mark { return false }
    prepare(bytes.count)
    let count = describe(number, UnsafeRawBufferPointer(rebasing: bytes[..<plain]))
    let isOpen = page.withUnsafeMutableBytes { page in
      context.withUnsafeBytes { context in
        cipher.open(
          UnsafeRawBufferPointer(rebasing: bytes[plain...]), UnsafeRawBufferPointer(rebasing: context[..<count]),
          to: UnsafeMutableRawBufferPointer(rebasing: page[..<(bytes.count - plain - overhead)]))
      }
    }
    guard isOpen else { return false }
    UnsafeMutableRawBufferPointer(rebasing: bytes[plain...]).copyBytes(from: page.prefix(bytes.count - plain - overhead))
    // As SQLite wrote it: its checksums cover zeroes here.
    UnsafeMutableRawBufferPointer(rebasing: bytes[(bytes.count - overhead)...]).initializeMemory(as: UInt8.self, repeating: 0)
    if plain > 0 { SealMark.remove(from: UnsafeMutableRawBufferPointer(rebasing: bytes[..<plain]), at: 0) }
    return true
  }

  /// Writes a page encrypted; its first `plain` bytes as they are.
  func write(_ bytes: UnsafeRawBufferPointer, _ number: UInt32, plain: Int, at offset: Int64) -> Int32 {
    let overhead = cipher.overhead
    guard bytes.count > plain + overhead else { return SealedFile.misuse }
    // These bytes are not stored; if SQLite had put something there, reads would differ from writes.
    guard bytes.suffix(overhead).allSatisfy({ $0 == 0 }) else { return SealedFile.misuse }
    prepare(bytes.count)
    page.withUnsafeMutableBytes { page in
      page.copyBytes(from: bytes.prefix(plain))
      if plain > 0 { mark.write(to: page) }
    }
    let count = page.withUnsafeBytes { describe(number, UnsafeRawBufferPointer(rebasing: $0[..<plain])) }
    return page.withUnsafeMutableBytes { page in
      let isSealed = context.withUnsafeBytes { context in
        cipher.seal(
          UnsafeRawBufferPointer(rebasing: bytes[plain..<bytes.count - overhead]),
          UnsafeRawBufferPointer(rebasing: context[..<count]), to: UnsafeMutableRawBufferPointer(rebasing: page[plain..<bytes.count]))
      }
      return isSealed ? base.write(UnsafeRawBufferPointer(rebasing: page[..<bytes.count]), offset) : SealedFile.misuse
    }
  }

  private func prepare(_ count: Int) { if page.count < count { page = [UInt8](repeating: 0, count: count) } }

  /// Writes the authenticated context of a page: the kind of file, the page number, and its plain bytes. Returns its length.
  private func describe(_ number: UInt32, _ plain: UnsafeRawBufferPointer) -> Int {
    context[0] = kind.rawValue
    withUnsafeBytes(of: number.littleEndian) { bytes in for i in 0..<4 { context[1 + i] = bytes[i] } }
    for i in plain.indices { context[5 + i] = plain[i] }
    return 5 + plain.count
  }

  /// Notes what is damaged, for the error that the failed statement becomes.
  func damaged(_ place: String) -> Int32 {
    seal.note(damage: "\(place) of '\(name)' is not what was written with its key")
    return SealedFile.damage
  }

  /// `SQLITE_IOERR_DATA`, which Swift does not import: the macro is an expression.
  static let damage = SQLITE_IOERR | 32 << 8
  /// `SQLITE_IOERR_SHORT_READ`, likewise.
  private static let shortRead = SQLITE_IOERR | 2 << 8
  /// SQLite requested something that it never does.
  static let misuse = SQLITE_IOERR

  private static func pageSize(_ header: [UInt8]) -> Int {
    let size = Int(header[16]) << 8 | Int(header[17])
    return size == 1 ? 65_536 : size
  }

  /// Four bytes from `place` on, the most significant first.
  static func number(_ bytes: some Collection<UInt8>, _ place: Int) -> Int {
    bytes.dropFirst(place).prefix(4).reduce(0) { $0 << 8 | Int($1) }
  }
}

extension UnsafeMutablePointer<sqlite3_file> {
  func read(_ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Int32 {
    pointee.pMethods.pointee.xRead(self, bytes.baseAddress, Int32(clamping: bytes.count), offset)
  }

  func write(_ bytes: UnsafeRawBufferPointer, _ offset: Int64) -> Int32 {
    pointee.pMethods.pointee.xWrite(self, bytes.baseAddress, Int32(clamping: bytes.count), offset)
  }
}
