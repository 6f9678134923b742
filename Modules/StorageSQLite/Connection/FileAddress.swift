import CVivariumSQLite

/// The name of a file for SQLite: its path, or a URI with parameters.
struct FileAddress {
  let file: StoreFile
  let text: String
  let isURI: Bool

  /// The VFS that opens files without creating any, registered at first use. SQLite's own if that fails.
  private static let quietOpening = csqlite_register_quiet() == SQLITE_OK ? "vivarium-quiet" : ""

  /// - Parameters:
  /// - isImmutable: nobody writes the file, and no files are created beside it.
  /// - isURI: use a URI even if a path would do, so that the connection accepts URIs later.
  init(_ file: StoreFile, isImmutable: Bool = false, isURI: Bool = false) {
    self.file = file
    var parts = isImmutable ? ["immutable=1"] : []
    if let seal = file.seal {
      parts += ["vfs=\(SealedFileSystem.isRegistered ? SealedFileSystem.name : "none")", "seal=\(seal.number)"]
      if isImmutable { parts.append("quiet=1") }
    } else if isImmutable, !FileAddress.quietOpening.isEmpty {
      parts.append("vfs=" + FileAddress.quietOpening)
    }
    self.isURI = isURI || !parts.isEmpty
    // Two slashes at the beginning of a path would denote a host.
    let begin = file.path.utf8.first == UInt8(ascii: "/") ? "file://" : "file:"
    text = self.isURI
      ? begin + FileAddress.percentEncoded(file.path) + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&")) : file.path
  }

  /// The address of a file that another connection attaches, independent of that connection's own VFS.
  static func attached(_ file: StoreFile) -> String {
    let text = FileAddress(file, isURI: true).text
    guard file.seal == nil, let name = sqlite3_vfs_find(nil)?.pointee.zName else { return text }
    return text + "?vfs=" + String(cString: name)
  }

  /// The path in a `file:` URI.
  private static func percentEncoded(_ path: String) -> String {
    path.utf8.map { byte in
      let isPlain = (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 47
      return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}
