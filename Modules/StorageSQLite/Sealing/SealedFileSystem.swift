import CVivariumSQLite
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

/// The VFS for encrypted stores: a layer over the system's, in which each file goes through `SealedFile`.
///
/// It opens only main files and logs, and a journal without pages while a file is created. It rejects everything else that
/// SQLite would write to disk (temporary tables, pages for a rollback), so that nothing is ever written in plain; our
/// connections keep these in memory.
enum SealedFileSystem {
  static let name = "vivarium-sealed"

  /// Whether it is registered; registers it at first use.
  static let isRegistered: Bool = {
    guard let system = sqlite3_vfs_find(nil) else { return false }
    let layer = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    layer.initialize(to: system.pointee)
    layer.pointee.pNext = nil
    layer.pointee.zName = UnsafePointer(strdup(name))
    layer.pointee.pAppData = UnsafeMutableRawPointer(system)
    layer.pointee.szOsFile = Int32(SealedHead.size) + system.pointee.szOsFile
    layer.pointee.xOpen = { layer, path, file, flags, outFlags in
      guard let layer, let file else { return SQLITE_CANTOPEN }
      return SealedFileSystem.open(layer, path, file, flags, outFlags)
    }
    return sqlite3_vfs_register(layer, 0) == SQLITE_OK
  }()

  /// As `xOpen`. The system's part of an open file follows ours in memory.
  private static func open(
    _ layer: UnsafeMutablePointer<sqlite3_vfs>, _ path: UnsafePointer<CChar>?, _ file: UnsafeMutablePointer<sqlite3_file>,
    _ flags: Int32, _ outFlags: UnsafeMutablePointer<Int32>?
  ) -> Int32 {
    file.pointee.pMethods = nil
    let kind: SealedFile.Kind
    switch flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL | SQLITE_OPEN_MAIN_JOURNAL) {
    case SQLITE_OPEN_MAIN_DB: kind = .main
    case SQLITE_OPEN_WAL: kind = .log
    // Not an existing one: foreign contents would be taken for our pages.
    case SQLITE_OPEN_MAIN_JOURNAL where flags & SQLITE_OPEN_CREATE != 0: kind = .journal
    default: return SQLITE_CANTOPEN
    }
    guard let path, let system = layer.pointee.pAppData?.assumingMemoryBound(to: sqlite3_vfs.self),
      let seal = FileSeal.find(UInt64(bitPattern: sqlite3_uri_int64(path, "seal", 0)))
    else { return SQLITE_CANTOPEN }
    let base = SealedHead.base(of: file)
    base.pointee.pMethods = nil
    let isQuiet = sqlite3_uri_boolean(path, "quiet", 0) == 1
    let code = isQuiet
      ? csqlite_quiet_open(layer, path, base, flags, outFlags) : system.pointee.xOpen(system, path, base, flags, outFlags)
    guard code == SQLITE_OK else { return code }
    guard isComplete(base, kind) else {
      _ = base.pointee.pMethods?.pointee.xClose(base)
      return SQLITE_CANTOPEN
    }
    do throws(StorageError) {
      let sealed = try SealedFile(kind, base, seal, String(cString: path))
      SealedHead.of(file).pointee.sealed = Unmanaged.passRetained(sealed)
      file.pointee.pMethods = methods
      return SQLITE_OK
    } catch {
      _ = base.pointee.pMethods?.pointee.xClose(base)
      return SQLITE_CANTOPEN
    }
  }

  /// Whether the system's part has all methods that will be called: a main file shares the index of its log, for which other
  /// kinds of files have no methods, nor has a system VFS of the first version.
  private static func isComplete(_ base: UnsafeMutablePointer<sqlite3_file>, _ kind: SealedFile.Kind) -> Bool {
    guard let methods = base.pointee.pMethods?.pointee else { return false }
    return kind != .main || (methods.iVersion >= 2 && methods.xShmMap != nil)
  }

  /// The methods SQLite calls on an open file.
  ///
  /// `nonisolated(unsafe)` is sound because pointer and table are constants: both are created once, before anybody has the
  /// pointer (Swift initialises a static once, even under contention), the table is never written nor freed after that, and it
  /// holds addresses of functions that capture nothing. No byte of a file is involved.
  nonisolated(unsafe) private static let methods: UnsafePointer<sqlite3_io_methods> = {
    var methods = sqlite3_io_methods()
    // Version 3 has memory-mapped pages, which would be encrypted.
    methods.iVersion = 2
    methods.xClose = { file in
      guard let file else { return SQLITE_IOERR }
      let base = SealedHead.base(of: file)
      let code = base.pointee.pMethods.pointee.xClose(base)
      SealedHead.of(file).pointee.sealed?.release()
      SealedHead.of(file).pointee.sealed = nil
      return code
    }
    methods.xRead = { file, bytes, count, offset in
      guard let sealed = SealedHead.sealed(file) else { return SQLITE_IOERR }
      return sealed.read(UnsafeMutableRawBufferPointer(start: bytes, count: Int(count)), offset)
    }
    methods.xWrite = { file, bytes, count, offset in
      guard let sealed = SealedHead.sealed(file) else { return SQLITE_IOERR }
      return sealed.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)), offset)
    }
    passOn(&methods)
    let made = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
    made.initialize(to: methods)
    return UnsafePointer(made)
  }()

  /// Passes on all methods that are independent of the contents.
  private static func passOn(_ methods: inout sqlite3_io_methods) {
    methods.xTruncate = { file, size in
      SealedHead.passing(file) { base, methods in methods.xTruncate(base, size) }
    }
    methods.xSync = { file, flags in SealedHead.passing(file) { base, methods in methods.xSync(base, flags) } }
    methods.xFileSize = { file, size in SealedHead.passing(file) { base, methods in methods.xFileSize(base, size) } }
    methods.xLock = { file, lock in SealedHead.passing(file) { base, methods in methods.xLock(base, lock) } }
    methods.xUnlock = { file, lock in SealedHead.passing(file) { base, methods in methods.xUnlock(base, lock) } }
    methods.xCheckReservedLock = { file, result in
      SealedHead.passing(file) { base, methods in methods.xCheckReservedLock(base, result) }
    }
    methods.xFileControl = { file, operation, argument in
      SealedHead.passing(file) { base, methods in methods.xFileControl(base, operation, argument) }
    }
    methods.xSectorSize = { file in SealedHead.passing(file) { base, methods in methods.xSectorSize(base) } }
    methods.xDeviceCharacteristics = { file in
      // Without `SQLITE_IOCAP_SUBPAGE_READ`, which older headers do not have: here a part of a page costs as much as a whole one, which
      // SQLite would keep.
      SealedHead.passing(file) { base, methods in methods.xDeviceCharacteristics(base) & ~0x8000 }
    }
    methods.xShmMap = { file, region, size, extends, address in
      SealedHead.passing(file) { base, methods in methods.xShmMap(base, region, size, extends, address) }
    }
    methods.xShmLock = { file, offset, count, flags in
      SealedHead.passing(file) { base, methods in methods.xShmLock(base, offset, count, flags) }
    }
    methods.xShmBarrier = { file in
      _ = SealedHead.passing(file) { base, methods in
        methods.xShmBarrier(base)
        return SQLITE_OK
      }
    }
    methods.xShmUnmap = { file, deletes in SealedHead.passing(file) { base, methods in methods.xShmUnmap(base, deletes) } }
  }
}

/// The head of SQLite's memory for an open file; the system's own part follows.
private struct SealedHead {
  var file: sqlite3_file
  var sealed: Unmanaged<SealedFile>?

  /// A multiple of the alignment of every part.
  static let size = 16

  static func of(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<SealedHead> {
    UnsafeMutableRawPointer(file).assumingMemoryBound(to: SealedHead.self)
  }

  static func base(of file: UnsafeMutablePointer<sqlite3_file>) -> UnsafeMutablePointer<sqlite3_file> {
    (UnsafeMutableRawPointer(file) + size).assumingMemoryBound(to: sqlite3_file.self)
  }

  static func sealed(_ file: UnsafeMutablePointer<sqlite3_file>?) -> SealedFile? {
    file.flatMap { of($0).pointee.sealed?.takeUnretainedValue() }
  }

  /// Calls a method of the system's part. The methods unwrapped here and by `body` exist: SQLite calls only files that `open`
  /// has opened and checked, and the methods for the log's index only on main files. The contents of a file do not change that.
  static func passing(
    _ file: UnsafeMutablePointer<sqlite3_file>?, _ body: (UnsafeMutablePointer<sqlite3_file>, sqlite3_io_methods) -> Int32
  ) -> Int32 {
    guard let file else { return SQLITE_IOERR }
    let base = base(of: file)
    return body(base, base.pointee.pMethods.pointee)
  }
}
