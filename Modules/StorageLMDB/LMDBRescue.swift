import CVivariumLMDB
import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Dispatch  // on Linux `stat` is now and then taken for its, and then not seen without it
import StorageCoordination
import StorageInterface
import StoreValues

/// Finds what there is of a file that nobody opens because of its meta pages: the newest version that one of them leads to, or the safe
/// point beside the file.
///
/// A commit takes no page of the version before it. So where the newer meta page is damaged, the other one leads to everything but the last
/// commit. The file is only read: a copy is made, in which both meta pages lead there.
private enum LMDBRescue {
  static func run(_ files: LMDBFiles, to path: String) throws(StorageError) -> Version? {
    let kind = try LMDBHeader(path: files.data).kind
    guard kind != .foreign, kind != .empty, let identity = FileIdentity(path: files.data), !LMDBEnvironment.table.isOpen(identity)
    else { return nil }
    // Whoever opens it for writing puts it back, with more than can be found here.
    if try SafePointFile.isRestoreDue(files) { return nil }
    if kind == .database, newestVersion(in: files) != nil { return nil }
    let file = open(files.data, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw LMDBFiles.openError(errno, files.data) }
    defer { close(file) }
    let starts = try findStarts(files, file)
    if starts.isEmpty { return nil }
    try make(path, of: file)
    do throws(StorageError) {
      if let version = try lead(path, to: starts, files) { return version }
    } catch {
      unlink(path)
      throw error
    }
    unlink(path)
    return nil
  }

  /// Each sound meta page of which the file has all pages, as a point to which a file can be put back, and the safe point.
  private static func findStarts(_ files: LMDBFiles, _ file: Int32) throws(StorageError) -> [SafePoint] {
    var starts = LMDBMeta.sound(file).filter { LMDBHeader.hasPages(of: $0, file) }.map { meta in
      SafePoint(sequence: 0, isArmed: false, system: .current, inode: 0, transaction: meta.transaction, meta: meta.bytes)
    }
    if let point = SafePointFile.point(of: files), LMDBMeta(point.meta)?.isSound == true, try point.belongs(to: files) {
      starts.append(point)
    }
    return starts
  }

  /// Lets both meta pages of a copy lead to the newest version that one of the starts leads to; nil: none leads to any.
  private static func lead(_ path: String, to starts: [SafePoint], _ files: LMDBFiles) throws(StorageError) -> Version? {
    guard let copy = LMDBFiles(existing: path) else { throw .system(errno, doing: "find", path: path) }
    var best: (start: SafePoint, version: Version)?
    for start in starts {
      try start.write(to: copy)
      if let version = newestVersion(in: copy), version > best?.version ?? Version(0) { best = (start, version) }
    }
    guard let found = best else { return nil }
    try found.start.write(to: copy)
    guard found.start.run != 0, let journal = try? SafePointFile(files: files, creates: false, mode: 0) else { return found.version }
    // Without the commits in the journal if they do not fit: what the point has is whole.
    try? journal.replay(found.start, into: copy, mode: 0o600)
    return newestVersion(in: copy) ?? found.version
  }

  /// The version that LMDB finds in a file; nil if it finds none of a store's.
  private static func newestVersion(in files: LMDBFiles) -> Version? {
    guard
      let raw = try? RawEnvironment(files: files, isReadOnly: true, isLockless: true, mapSize: RawEnvironment.mapSizeMin, mode: 0)
    else { return nil }
    defer { raw.close() }
    var transaction: OpaquePointer?
    guard mdb_txn_begin(raw.pointer, nil, UInt32(MDB_RDONLY), &transaction) == 0, let transaction else { return nil }
    defer { mdb_txn_abort(transaction) }
    guard let view = try? StorePages(path: files.data).view(of: transaction), case .found(let record) = try? StoreRecord.find(in: view)
    else { return nil }
    return record.version
  }

  private static func make(_ path: String, of file: Int32) throws(StorageError) {
    let target = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard target >= 0 else { throw .system(errno, doing: "make", path: path) }
    let number = copy(file, to: target)
    close(target)
    guard number != 0 else { return }
    unlink(path)
    throw .system(number, doing: "copy the damaged file to", path: path)
  }

  /// Copies the bytes; what has no blocks gets none. Returns 0 or an errno value.
  private static func copy(_ source: Int32, to target: Int32) -> Int32 {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 20, alignment: 4_096)
    defer { bytes.deallocate() }
    var (place, end) = (Int64(0), Int64(0))
    while true {
      place = cs_data_from(source, place)
      if place == .max { break }
      let count = pread(source, bytes.baseAddress, bytes.count, off_t(place))
      if count < 0, errno == EINTR { continue }
      if count < 0 { return errno }
      if count == 0 { break }
      let number = put(UnsafeRawBufferPointer(rebasing: bytes[..<count]), target, at: off_t(place))
      if number != 0 { return number }
      place += Int64(count)
      end = place
    }
    var info = stat()
    guard fstat(source, &info) == 0 else { return errno }
    return ftruncate(target, max(info.st_size, off_t(end))) == 0 ? 0 : errno
  }

  private static func put(_ bytes: UnsafeRawBufferPointer, _ file: Int32, at place: off_t) -> Int32 {
    var done = 0
    while done < bytes.count {
      let count = pwrite(file, UnsafeRawBufferPointer(rebasing: bytes[done...]).baseAddress, bytes.count - done, place + off_t(done))
      if count < 0, errno == EINTR { continue }
      if count <= 0 { return count < 0 ? errno : EIO }
      done += count
    }
    return 0
  }
}

extension LMDBBackend {
  /// For a store that does not open because its first pages are damaged: makes a copy at `path`, where there must be no file, that leads to
  /// the newest version that is found, and returns that. Nil, without a file, if nothing is found, or the damage lies elsewhere.
  ///
  /// Who opens the copy reads it as any other: what else is damaged is refused. O(bytes). Throws `.io`, `.outOfDiskSpace` and
  /// `.permissionDenied`.
  package func rescue(to path: String) throws(StorageError) -> Version? {
    guard let files = LMDBFiles(existing: location) else { return nil }
    return try LMDBRescue.run(files, to: path)
  }
}
