import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

/// Opens the files beside a store. Everybody who may write to the directory knows their names, so a file is inspected before a
/// byte of it is written or its length changed: links are not followed, pipes not waited for, and foreign files stay unchanged.
package enum SideFile {
  /// Opens a regular file. Throws `.foreignFile` for anything else, and the errors of opening a file.
  package static func open(
    _ path: String, _ name: String, writes: Bool, creates: Bool, mode: UInt32 = 0, _ scope: StorageError.Scope = .engine
  ) throws(StorageError) -> Int32 {
    var number: Int32 = 0
    let file = cs_open_side(path, writes, creates, mode, &number)
    guard file >= 0 else {
      // A link, a directory or a socket.
      if number == ELOOP || number == EISDIR || number == ENXIO { throw foreign(path, name) }
      throw .system(number, scope, doing: "open the \(name)", path: path)
    }
    var info = stat()
    guard fstat(file, &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
      close(file)
      throw foreign(path, name)
    }
    return file
  }

  package static func foreign(_ path: String, _ name: String) -> StorageError {
    StorageError(
      .foreignFile, .engine, "'\(path)' is not the \(name) of a store.", remedy: "Move it away; it is made anew.")
  }

  /// Whether something else lies under the name of a side file: anything but a regular file, or one that `isOurs` does not know. False
  /// if there is nothing, or nothing that this process may look at. Not for a file on which this process has POSIX locks: they go.
  package static func isForeign(_ path: String, _ isOurs: (_ file: Int32) -> Bool) -> Bool {
    var number: Int32 = 0
    let file = cs_open_side(path, false, false, 0, &number)
    guard file >= 0 else { return number == ELOOP || number == ENXIO }
    defer { close(file) }
    var info = stat()
    guard fstat(file, &info) == 0 else { return false }
    return info.st_mode & S_IFMT != S_IFREG || !isOurs(file)
  }

  /// `isForeign` for the side files that the stores of several engines have, by what their names end with. False for other names.
  package static func isForeign(_ path: String) -> Bool {
    isForeign(path) { file in
      if path.hasSuffix(".coord") { return CoordinationFile.isOurs(file, path) }
      if path.hasSuffix(".bell") { return FileDoorbell.isOurs(file, path) }
      // Nobody writes to it.
      if path.hasSuffix(FileTurn.replication) { return beginning(file, 1)?.length == 0 }
      return true
    }
  }

  /// The first bytes of an open file, up to `count`, and its length; nil if it cannot be read.
  package static func beginning(_ file: Int32, _ count: Int) -> (bytes: [UInt8], length: Int)? {
    var info = stat()
    guard fstat(file, &info) == 0 else { return nil }
    var bytes = [UInt8](repeating: 0, count: count)
    let read = bytes.withUnsafeMutableBytes { pread(file, $0.baseAddress, count, 0) }
    guard read >= 0 else { return nil }
    return (Array(bytes[..<read]), Int(info.st_size))
  }

  /// Whether a file's first bytes and its length pass a test. Another process may be creating the file, so that one read may
  /// mix several of its states: while it contains only zeroes, it is read again for a while.
  package static func passes(_ file: Int32, _ count: Int, _ test: (_ bytes: [UInt8], _ length: Int) -> Bool) -> Bool {
    for _ in 0..<1_000 {
      guard let (bytes, length) = beginning(file, count) else { return false }
      if test(bytes, length) { return true }
      guard bytes.allSatisfy({ $0 == 0 }) else { return false }
      sched_yield()
    }
    return false
  }

  /// Whether an empty file may be one just created for the store: it has no other name, and its owner may write to the store.
  package static func isNew(_ file: Int32, path: String, suffix: String) -> Bool {
    var (info, store) = (stat(), stat())
    guard fstat(file, &info) == 0, info.st_size == 0, info.st_nlink <= 1 else { return false }
    if info.st_uid == geteuid() || info.st_uid == 0 { return true }
    guard path.hasSuffix(suffix), stat(String(path.dropLast(suffix.count)), &store) == 0 else { return false }
    return info.st_uid == store.st_uid || store.st_mode & (S_IWGRP | S_IWOTH) != 0
  }
}
