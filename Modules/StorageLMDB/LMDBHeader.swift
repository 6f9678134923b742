#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import CSystem
import Storage

/// What the first bytes of a file say, read before LMDB maps it: LMDB trusts them.
struct LMDBHeader {
  private static let magic: UInt32 = 0xBEEF_C0DE
  /// Of LMDB's own layout; 0.9 writes 1.
  private static let layout: UInt32 = 1

  enum Kind: Equatable {
    /// No byte at all: a file that was made and not used yet.
    case empty
    case database
    /// An LMDB file of a layout that this build does not know.
    case otherLayout(UInt32)
    case foreign
  }

  let kind: Kind

  /// Reads the header of the file. Throws what opening it can cause.
  init(path: String) throws(StorageError) {
    var number: Int32 = 0
    let file = cs_open(path, false, false, 0, &number)
    guard file >= 0 else { throw LMDBFiles.openError(number, path) }
    defer { close(file) }
    var words: (UInt64, UInt64, UInt32, UInt32) = (0, 0, 0, 0)
    let count = withUnsafeMutableBytes(of: &words) { pread(file, $0.baseAddress, 24, 0) }
    if count < 0 { throw LMDBFiles.openError(errno, path) }
    // A page header of 16 bytes, then the magic number and the number of the layout.
    if count == 0 {
      kind = .empty
    } else if count < 24 || words.2 != LMDBHeader.magic {
      kind = .foreign
    } else {
      kind = words.3 == LMDBHeader.layout ? .database : .otherLayout(words.3)
    }
  }

  /// Throws when the file is no database that can be opened.
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
    }
  }
}
