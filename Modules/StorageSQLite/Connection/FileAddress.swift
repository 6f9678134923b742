import CVivariumSQLite

/// How a file is named for SQLite: by its path, or by a URI with what else there is to say of it.
struct FileAddress {
  let file: StoreFile
  let text: String
  let isURI: Bool

  /// The name of the way to open files without making any, registered at its first use. SQLite's own where that fails.
  private static let quietOpening = csqlite_register_quiet() == SQLITE_OK ? "vivarium-quiet" : ""

  /// - Parameters:
  ///   - isImmutable: nobody writes the file, and nothing is made beside it.
  ///   - isURI: a URI where a path would do, so that the connection takes URIs later.
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
    // Two slashes at the beginning of a path would name a machine.
    let begin = file.path.hasPrefix("/") ? "file://" : "file:"
    text = self.isURI
      ? begin + FileAddress.percentEncoded(file.path) + (parts.isEmpty ? "" : "?" + parts.joined(separator: "&")) : file.path
  }

  /// The address of a file that another connection is to write to, whatever is between that one and its own file.
  static func attached(_ file: StoreFile) -> String {
    let text = FileAddress(file, isURI: true).text
    guard file.seal == nil, let name = sqlite3_vfs_find(nil)?.pointee.zName else { return text }
    return text + "?vfs=" + String(cString: name)
  }

  /// As a path in a `file:` address.
  private static func percentEncoded(_ path: String) -> String {
    path.utf8.map { byte in
      let isPlain = (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 47
      return isPlain ? String(UnicodeScalar(byte)) : "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }
}
