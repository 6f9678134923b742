import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface

/// An increment that is read, block by block. Every length and number in it is checked before it is used. One thread at a time.
package final class IncrementFile {
  package let path: String
  package let head: IncrementHead
  /// Whether it is encrypted.
  package let isSealed: Bool
  private let seal: IncrementSeal
  private let file: Int32
  let size: Int
  /// The next block.
  private(set) var offset: Int
  private var index: UInt64
  private var isAtEnd: Bool

  /// Opens an increment and reads what it says of itself, which is whole then. The rest is checked as it is read.
  ///
  /// Throws `.fileNotFound`, `.permissionDenied`, `.foreignFile`, `.unsupportedVersion`, `.corrupt`, `.missingKey`, `.wrongKey`, and
  /// `.notEncrypted` for a plain one with a key, unless that is allowed.
  package init(_ path: String, key: (any StoreKey)?, isPlainAllowed: Bool = false) throws(StorageError) {
    var info = stat()
    // Opening another end of a pipe would wait for it.
    if stat(path, &info) == 0, info.st_mode & S_IFMT != S_IFREG { throw .notIncrement(path) }
    var number: Int32 = 0
    let file = cs_open(path, false, false, 0, &number)
    guard file >= 0 else { throw .system(number, .statement, doing: "open the increment", path: path) }
    do throws(StorageError) {
      guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else { throw StorageError.notIncrement(path) }
      let size = Int(info.st_size)
      let header = try IncrementFile.read(file, 0, min(size, IncrementFormat.headerCount), path)
      let seal = try IncrementSeal(header: header.copy(), key: key, isPlainAllowed: isPlainAllowed, path: path)
      let block = try IncrementFile.block(file, seal, at: IncrementFormat.headerCount, 0, size, path)
      defer { withExtendedLifetime(block) {} }
      let head = try IncrementFile.head(block.entries, isLast: block.isLast, path)
      (self.path, self.file, self.size, self.seal, self.head) = (path, file, size, seal, head)
      (isSealed, offset, index, isAtEnd) = (seal.cipher != nil, block.end, 1, false)
    } catch {
      close(file)
      throw error
    }
  }

  deinit { close(file) }

  /// Reads it to its end. Throws where something is damaged or missing. O(its size).
  package func readToEnd() throws(StorageError) { while try next() != nil {} }

  /// The entries of the next block; nil after the last one.
  func next() throws(StorageError) -> IncrementBlock? {
    if isAtEnd { return nil }
    let block = try IncrementFile.block(file, seal, at: offset, index, size, path)
    (offset, index, isAtEnd) = (block.end, index + 1, block.isLast)
    if block.isLast, offset != size { throw .damagedIncrement(path, "something follows its end") }
    return block.entries
  }

  private static func head(_ block: IncrementBlock, isLast: Bool, _ path: String) throws(StorageError) -> IncrementHead {
    var input = VarintReader(UnsafeRawBufferPointer(block.bytes))
    do throws(StorageError) {
      let head = try IncrementHead(from: &input)
      if input.rest.isEmpty, !isLast { return head }
    } catch {}
    throw .damagedIncrement(path, "its head cannot be read")
  }

  private static func block(
    _ file: Int32, _ seal: IncrementSeal, at offset: Int, _ index: UInt64, _ size: Int, _ path: String
  ) throws(StorageError) -> (entries: IncrementBlock, end: Int, isLast: Bool) {
    let start = offset + IncrementFormat.blockHeadCount
    guard start <= size else { throw .damagedIncrement(path, "it ends before its last block") }
    let head = try read(file, offset, IncrementFormat.blockHeadCount, path).copy()
    let (count, flags, checksum) = (Int(head.number32(at: 0)), head.number32(at: 4), head.number32(at: 8))
    guard count <= size - start else { throw .damagedIncrement(path, "block \(index) is cut off") }
    let body = try read(file, start, count, path)
    defer { withExtendedLifetime(body) {} }
    guard flags & ~IncrementFormat.isLast == 0,
      let entries = seal.open(UnsafeRawBufferPointer(body.bytes), index, flags: flags, checksum: checksum)
    else { throw .damagedIncrement(path, "block \(index) is not what was written") }
    return (entries, start + count, flags & IncrementFormat.isLast != 0)
  }

  /// Bytes that the file has, by its size when it was opened.
  private static func read(_ file: Int32, _ offset: Int, _ count: Int, _ path: String) throws(StorageError) -> IncrementBlock {
    let block = IncrementBlock(count: count)
    var done = 0
    while done < count {
      let more = pread(file, block.bytes.baseAddress.map { $0 + done }, count - done, off_t(offset + done))
      if more < 0, errno == EINTR { continue }
      if more < 0 { throw .system(errno, .statement, doing: "read the increment", path: path) }
      if more == 0 { throw .damagedIncrement(path, "it became shorter while it was read") }
      done += more
    }
    return block
  }
}
