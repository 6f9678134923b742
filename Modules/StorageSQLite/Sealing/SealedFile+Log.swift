import CVivariumSQLite

/// The log: a header, and frames, each a header and a page.
///
/// SQLite writes the header of a frame and then its page; a page that the same write transaction has already put into the log it
/// replaces alone, and before the commit reads all frames from there on, and writes their headers anew. Of headers it reads
/// checksums, with the page after a crash and before such a commit, and without it that of the frame before.
extension SealedFile {
  /// As `xRead`.
  func readLog(_ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Int32 {
    if offset < Int64(SealedFile.logHeader) { return readLogHeader(bytes, Int(offset)) }
    let code = base.read(bytes, offset)
    guard code == SQLITE_OK else { return code }
    if pageSize == 0 { _ = learnLog() }
    switch bytes.count {
    case pageSize:
      guard let number = pageNumber(ofFrameBefore: offset) else { return SQLITE_IOERR }
      return open(bytes, number, plain: 0) ? SQLITE_OK : damaged("page \(number) in the log")
    case pageSize + SealedFile.frameHeader: return openFrame(bytes, offset)
    case LogMask.sumCount: return showSum(bytes, offset)
    default: return SealedFile.misuse
    }
  }

  /// As `xWrite`.
  func writeLog(_ bytes: UnsafeRawBufferPointer, _ offset: Int64) -> Int32 {
    if bytes.count == SealedFile.logHeader, offset == 0 { return writeLogHeader(bytes) }
    if bytes.count == SealedFile.frameHeader { return writeFrameHeader(bytes, offset) }
    if pageSize == 0 { _ = learnLog() }
    // Mostly the page of the header that was written just before.
    let last = lastFrame.flatMap { $0.place == offset ? $0.page : nil }
    guard bytes.count == pageSize, let number = last ?? pageNumber(ofFrameBefore: offset) else { return SealedFile.misuse }
    return write(bytes, number, plain: 0, at: offset)
  }

  // MARK: The header of the log

  private func readLogHeader(_ bytes: UnsafeMutableRawBufferPointer, _ start: Int) -> Int32 {
    guard start + bytes.count <= SealedFile.logHeader else { return SealedFile.misuse }
    // There is none yet.
    guard var header = learnLog() else { return base.read(bytes, Int64(start)) }
    LogMask.unmark(&header)
    bytes.copyBytes(from: header[start..<start + bytes.count])
    return SQLITE_OK
  }

  private func writeLogHeader(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    var header = Array(bytes)
    guard LogMask.mark(&header) else { return SealedFile.misuse }
    lastFrame = nil
    let code = header.withUnsafeBytes { base.write($0, 0) }
    if code == SQLITE_OK { (pageSize, isMasked) = (SealedFile.number(header, 8), true) }
    return code
  }

  /// Reads the log's header, which another connection may have written, and what it says. Nil if there is none.
  private func learnLog() -> [UInt8]? {
    var header = [UInt8](repeating: 0, count: SealedFile.logHeader)
    guard header.withUnsafeMutableBytes({ base.read($0, 0) }) == SQLITE_OK else { return nil }
    (pageSize, isMasked) = (SealedFile.number(header, 8), LogMask.isMarked(header))
    return header
  }

  // MARK: Frames

  /// Recovery after a crash reads frame by frame, up to the first incomplete one, which is not damage. Zeroes never pass for a
  /// frame.
  private func openFrame(_ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Int32 {
    let number = UInt32(truncatingIfNeeded: SealedFile.number(bytes, 0))
    let page = UnsafeMutableRawBufferPointer(rebasing: bytes[SealedFile.frameHeader...])
    guard let log = learnLog(), open(page, number, plain: 0) else {
      bytes.initializeMemory(as: UInt8.self, repeating: 0)
      return SQLITE_OK
    }
    if isMasked { LogMask.show(UnsafeMutableRawBufferPointer(rebasing: bytes[..<SealedFile.frameHeader]), at: offset, in: log, cipher) }
    return SQLITE_OK
  }

  /// Shows the checksum of a frame whose header alone is read.
  private func showSum(_ bytes: UnsafeMutableRawBufferPointer, _ offset: Int64) -> Int32 {
    let start = offset - Int64(LogMask.sumPlace)
    guard (start - Int64(SealedFile.logHeader)) % Int64(pageSize + SealedFile.frameHeader) == 0, let log = learnLog() else {
      return SealedFile.misuse
    }
    guard isMasked else { return SQLITE_OK }
    guard var header = frameHeader(at: start) else { return SQLITE_IOERR }
    header.withUnsafeMutableBytes { LogMask.show($0, at: start, in: log, cipher) }
    bytes.copyBytes(from: header[LogMask.sumPlace..<LogMask.sumPlace + bytes.count])
    return SQLITE_OK
  }

  private func writeFrameHeader(_ bytes: UnsafeRawBufferPointer, _ offset: Int64) -> Int32 {
    // Another connection may have begun the log, but none of this build makes one that is not masked.
    if !isMasked { _ = learnLog() }
    lastFrame = (offset + Int64(bytes.count), UInt32(truncatingIfNeeded: SealedFile.number(bytes, 0)))
    guard isMasked else { return base.write(bytes, offset) }
    var header = Array(bytes)
    LogMask.hide(&header, at: offset, cipher)
    return header.withUnsafeBytes { base.write($0, offset) }
  }

  /// Read from the file: another connection may have begun the log anew, and written another page to the place of our last frame.
  private func pageNumber(ofFrameBefore offset: Int64) -> UInt32? {
    frameHeader(at: offset - Int64(SealedFile.frameHeader)).map { UInt32(truncatingIfNeeded: SealedFile.number($0, 0)) }
  }

  private func frameHeader(at offset: Int64) -> [UInt8]? {
    var header = [UInt8](repeating: 0, count: SealedFile.frameHeader)
    return header.withUnsafeMutableBytes({ base.read($0, offset) }) == SQLITE_OK ? header : nil
  }
}
