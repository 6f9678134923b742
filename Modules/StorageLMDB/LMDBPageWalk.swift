#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Walks a tree of an LMDB file from its root and checks that the file contains every page. Reads with `pread`: nothing in the
/// file can do more than make it return false. Read errors of the disk are reported separately.
struct LMDBPageWalk {
  private static let depthMax = 64
  private static let header = 16
  private static let branchFlag: UInt16 = 1
  private static let leafFlag: UInt16 = 2
  /// The value is on pages of its own.
  private static let largeFlag: UInt16 = 1

  let file: Int32
  let pageSize: Int
  let pageCount: UInt64
  /// A tree has fewer pages than the file; more visits mean a cycle.
  private var visited: UInt64 = 0
  /// The first page found wrong.
  private(set) var faultyPage: UInt64?
  /// The errno of the first failed read: then the result says nothing about the file.
  private(set) var readError: Int32?

  init(file: Int32, pageSize: Int, pageCount: UInt64) {
    self.file = file
    self.pageSize = pageSize
    self.pageCount = pageCount
  }

  mutating func isWhole(_ page: UInt64, depth: Int) -> Bool {
    if areWhole(page, depth: depth) { return true }
    if faultyPage == nil { faultyPage = page }
    return false
  }

  private mutating func areWhole(_ page: UInt64, depth: Int) -> Bool {
    visited += 1
    guard page < pageCount, visited <= pageCount, depth < LMDBPageWalk.depthMax, let bytes = read(page) else {
      return false
    }
    // Each page contains its own number.
    guard word(bytes, 0, as: UInt64.self) == page else { return false }
    let flags = word(bytes, 10, as: UInt16.self)
    let nodes = (Int(word(bytes, 12, as: UInt16.self)) - LMDBPageWalk.header) / 2
    guard nodes >= 0, LMDBPageWalk.header + nodes * 2 <= pageSize else { return false }
    for position in 0..<nodes {
      let node = Int(word(bytes, LMDBPageWalk.header + position * 2, as: UInt16.self))
      guard node >= LMDBPageWalk.header, node + 8 <= pageSize,
        node + 8 + Int(word(bytes, node + 6, as: UInt16.self)) <= pageSize
      else { return false }
      if flags & LMDBPageWalk.branchFlag != 0 {
        if !isWhole(child(bytes, node), depth: depth + 1) { return false }
      } else if flags & LMDBPageWalk.leafFlag != 0 {
        if !isValueWhole(bytes, node) { return false }
      } else {
        return false
      }
    }
    return true
  }

  /// The value of a key in the tree at `root`; nil if it does not exist, or is on pages of its own.
  mutating func value(of key: [UInt8], root: UInt64) -> [UInt8]? {
    var page = root
    for _ in 0..<LMDBPageWalk.depthMax {
      guard page < pageCount, let bytes = read(page), word(bytes, 0, as: UInt64.self) == page else { return nil }
      let isBranch = word(bytes, 10, as: UInt16.self) & LMDBPageWalk.branchFlag != 0
      let nodes = (Int(word(bytes, 12, as: UInt16.self)) - LMDBPageWalk.header) / 2
      guard nodes > 0, LMDBPageWalk.header + nodes * 2 <= pageSize else { return nil }
      var found: Int?
      for position in 0..<nodes {
        let node = Int(word(bytes, LMDBPageWalk.header + position * 2, as: UInt16.self))
        guard node + 8 <= pageSize else { return nil }
        let start = node + 8
        let end = start + Int(word(bytes, node + 6, as: UInt16.self))
        guard end <= pageSize else { return nil }
        // The first key of a branch page stands for everything below the second.
        if isBranch, position == 0 || !key.lexicographicallyPrecedes(bytes[start..<end]) { found = node }
        if !isBranch, bytes[start..<end].elementsEqual(key) { found = node }
      }
      guard let found else { return nil }
      if !isBranch { return smallValue(bytes, found) }
      page = child(bytes, found)
    }
    return nil
  }

  private func smallValue(_ bytes: [UInt8], _ node: Int) -> [UInt8]? {
    let start = node + 8 + Int(word(bytes, node + 6, as: UInt16.self))
    let count = Int(word(bytes, node, as: UInt32.self))
    guard word(bytes, node + 4, as: UInt16.self) & LMDBPageWalk.largeFlag == 0, start + count <= pageSize else { return nil }
    return Array(bytes[start..<start + count])
  }

  /// The page number of a branch's node: 48 bits in its first three 16-bit words.
  private func child(_ bytes: [UInt8], _ node: Int) -> UInt64 {
    UInt64(word(bytes, node, as: UInt32.self)) | UInt64(word(bytes, node + 4, as: UInt16.self)) << 32
  }

  private func isValueWhole(_ bytes: [UInt8], _ node: Int) -> Bool {
    let size = UInt64(word(bytes, node, as: UInt32.self))
    let at = node + 8 + Int(word(bytes, node + 6, as: UInt16.self))
    guard word(bytes, node + 4, as: UInt16.self) & LMDBPageWalk.largeFlag != 0 else { return at + Int(size) <= pageSize }
    guard at + 8 <= pageSize else { return false }
    let first = word(bytes, at, as: UInt64.self)
    let count = (UInt64(LMDBPageWalk.header) - 1 + size) / UInt64(pageSize) + 1
    // No overflow: once the first holds, both are far below the limit.
    return first < pageCount && count <= pageCount - first
  }

  private mutating func read(_ page: UInt64) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: pageSize)
    let count = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, pageSize, off_t(page) * off_t(pageSize)) }
    if count < 0, readError == nil { readError = errno }
    return count == pageSize ? bytes : nil
  }

  private func word<T: FixedWidthInteger>(_ bytes: [UInt8], _ at: Int, as type: T.Type) -> T {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: at, as: type) }
  }
}
