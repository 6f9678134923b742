#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import ColumnStore
import StorageCoordination
import StorageInterface
import StoreValues
import Synchronization

/// The side file `<store>.safe`: two slots of 512 bytes, written alternately, so that one is always complete, and behind them the
/// journal. Created with the first commit that is not synced, or is in the journal.
final class SafePointFile: Sendable {
  private static let place = 512

  /// The file's contents when last read. Every committing process writes it, so each commit reads it and mostly finds the same
  /// bytes.
  private struct Seen {
    var bytes = [UInt8](repeating: 0, count: SafePointFile.place * 2)
    var newest: SafePoint?
    var decodeCount = 0
    /// What the disk did not take in. It says so once only, and takes in nothing of it until it is written again.
    var refused: [UInt8]?
  }

  let path: String
  let descriptor: Int32
  private let seen = Mutex(Seen())

  /// Opens the file. Nil if it does not exist and is not to be created.
  init?(files: LMDBFiles, creates: Bool, mode: UInt32) throws(StorageError) {
    path = files.safePoint
    do throws(StorageError) {
      descriptor = try SafePointFile.openOurs(path, writes: true, creates: creates, mode: mode)
    } catch {
      if error.underlyingCode == ENOENT, !creates { return nil }
      throw error
    }
    if creates { try? Folder.sync(of: path) }
  }

  /// Opens a file that is empty, has our mark in a slot, or contains only zeroes. Throws `.foreignFile` for any other.
  private static func openOurs(_ path: String, writes: Bool, creates: Bool, mode: UInt32 = 0) throws(StorageError) -> Int32 {
    let name = "file of safe points"
    let file = try SideFile.open(path, name, writes: writes, creates: creates, mode: mode)
    guard isOurs(file) else {
      close(file)
      throw SideFile.foreign(path, name)
    }
    return file
  }

  static func isOurs(_ file: Int32) -> Bool {
    guard let bytes = SideFile.beginning(file, place * 2)?.bytes else { return false }
    return bytes.allSatisfy { $0 == 0 } || SafePoint.isMarked(bytes, at: 0) || SafePoint.isMarked(bytes, at: place)
  }

  deinit { close(descriptor) }

  /// For tests: the disk does not take in the next of these syncs.
  let refusals = Atomic(0)

  private func syncs(_ descriptor: Int32) -> Int32 {
    if refusals.load(ordering: .relaxed) > 0 {
      refusals.subtract(1, ordering: .relaxed)
      errno = EIO
      return -1
    }
    return SafePointFile.sync(descriptor)
  }

  /// Whether the path still leads to this file: after a crash the file at the path is read.
  var isInPlace: Bool { FileIdentity(path: path) == FileIdentity(descriptor: descriptor) }

  /// How often the file's contents had changed since last read. For tests.
  var decodeCount: Int { seen.withLock { $0.decodeCount } }

  /// The newest complete point, which the disk has; nil if none was written.
  ///
  /// Throws if it cannot be read, or the disk does not take it in: then nobody knows which one there would be after a crash, and to take it
  /// for none would give up the way back.
  func newest() throws(StorageError) -> SafePoint? {
    if seen.withLock({ $0.refused != nil }) { try update { _ in nil } }
    return try newest(rewriting: nil)
  }

  /// - Parameter own: a descriptor of the file, of the one who may write it now: what the disk did not take in is written again.
  private func newest(rewriting own: Int32?) throws(StorageError) -> SafePoint? {
    let number = withUnsafeTemporaryAllocation(byteCount: SafePointFile.place * 2, alignment: 8) { now -> Int32 in
      guard SafePointFile.read(descriptor, into: now) != nil else { return errno }
      return seen.withLock { look(UnsafeRawBufferPointer(now), &$0, own) }
    }
    if number != 0 { throw .system(number, doing: "read or sync the safe point", path: path) }
    return seen.withLock { $0.newest }
  }

  /// Takes over what the file contains now, once the disk has it. Returns 0, or an error number.
  private func look(_ now: UnsafeRawBufferPointer, _ seen: inout Seen, _ own: Int32?) -> Int32 {
    if seen.bytes.withUnsafeBytes({ compareBytes($0, now) == 0 }) { return 0 }
    let bytes = Array(now)
    // One opened later may not hear of an error that somebody was told before.
    var heard = descriptor
    if seen.refused == bytes {
      guard let own else { return EIO }
      guard pwrite(own, bytes, bytes.count, 0) == bytes.count else { return errno }
      heard = own
    }
    // Whoever wrote it may wait for the disk still, or was killed before: after a crash there would be another one.
    guard syncs(heard) == 0 else {
      let number = errno
      seen.refused = bytes
      return number
    }
    (seen.bytes, seen.newest, seen.refused) = (bytes, SafePointFile.newest(in: bytes), nil)
    seen.decodeCount += 1
    return 0
  }

  /// Notes that the disk may have something else than the file contains now.
  private func refuse(_ file: Int32) {
    var now = [UInt8](repeating: 0, count: SafePointFile.place * 2)
    _ = now.withUnsafeMutableBytes { SafePointFile.read(file, into: $0) }
    seen.withLock { [now] seen in (seen.bytes, seen.refused) = ([], now) }
  }

  /// Fills the buffer with the file's contents, zero-padded. Nil if it cannot be read.
  private static func read(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    let count = pread(descriptor, buffer.baseAddress, buffer.count, 0)
    guard count >= 0 else { return nil }
    for i in count..<buffer.count { buffer[i] = 0 }
    return count
  }

  private static func newest(in bytes: [UInt8]) -> SafePoint? {
    [0, SafePointFile.place].compactMap { SafePoint(bytes[$0..<$0 + SafePoint.size]) }.max { $0.sequence < $1.sequence }
  }

  /// Writes and syncs the result of `next` for the newest point; nil: writes nothing. One process and thread at a time.
  func update(_ next: (SafePoint?) -> SafePoint?) throws(StorageError) {
    // Locks belong to the open file, so each thread needs its own.
    let own = try SafePointFile.openOurs(path, writes: true, creates: false)
    defer {
      flock(own, LOCK_UN)
      close(own)
    }
    while flock(own, LOCK_EX) != 0 { if errno != EINTR { throw failure() } }
    let newest = try newest(rewriting: own)
    guard var point = next(newest) else { return }
    point.sequence = (newest?.sequence ?? 0) &+ 1
    let bytes = point.bytes
    let offset = off_t(point.sequence & 1) * off_t(SafePointFile.place)
    var before = [UInt8](repeating: 0, count: SafePoint.size)
    guard pread(own, &before, before.count, offset) >= 0 else { throw failure() }
    // A descriptor of its own: of two that share one, the disk's error is told to one alone.
    guard pwrite(own, bytes, bytes.count, offset) == bytes.count, syncs(own) == 0 else {
      let error = failure()
      // Nobody may take for written what the disk may not have.
      _ = pwrite(own, before, before.count, offset)
      if syncs(own) != 0 { refuse(own) }
      throw error
    }
  }

  /// Waits for the disk; 0, or -1 with `errno` set.
  static func sync(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
    if fcntl(descriptor, F_FULLFSYNC) != -1 { return 0 }
    // Some file systems cannot ask the drive.
    return [ENOTSUP, EINVAL, ENOTTY].contains(errno) ? fsync(descriptor) : -1
    #else
    return fsync(descriptor)
    #endif
  }

  /// After a system crash with unsynced commits, restores the file to its safe point, so that it is intact. Call before LMDB
  /// opens the file; does nothing otherwise.
  static func restore(_ files: LMDBFiles, mode: UInt32) throws(StorageError) {
    guard let file = try SafePointFile(files: files, creates: false, mode: mode) else { return }
    guard try file.newest()?.isLeftOver == true else { return }
    var failure: StorageError?
    try file.update { newest in
      // Another process may have restored it meanwhile.
      guard var point = newest, point.isLeftOver else { return nil }
      do throws(StorageError) {
        // The system was restarted, or the disk has lost pages while it ran: then somebody may have the store open still.
        try StorePresence.whileAbsent(path: files.coordination) { () throws(StorageError) in
          guard try point.belongs(to: files) else { return try point.checkForeign(files) }
          try point.write(to: files)
          try file.replay(point, into: files, mode: mode)
        }
      } catch {
        failure = error
        return nil
      }
      point.isArmed = false
      point.run = 0
      return point
    }
    if let failure { throw failure }
  }

  /// The journal that leads on from a point; nil if it has none.
  func journal(of point: SafePoint) -> (journal: CommitJournal, first: CommitJournal.Place)? {
    guard point.run != 0, let offset = Int(exactly: point.journalOffset), offset <= CommitJournal.capacity else { return nil }
    return (CommitJournal(descriptor: descriptor, path: path, run: point.run), CommitJournal.Place(offset: offset, version: point.version))
  }

  /// Whether there is room for a journal, with or without records.
  var hasJournal: Bool { lseek(descriptor, 0, SEEK_END) > off_t(SafePointFile.place * 2) }

  /// Gives the journal's room back. Nobody needs it any more.
  func truncate() { ftruncate(descriptor, off_t(SafePointFile.place * 2)) }

  /// For read-only opens: whether the file must be restored first.
  static func isRestoreDue(_ files: LMDBFiles) throws(StorageError) -> Bool {
    guard let newest = point(of: files), newest.isLeftOver else { return false }
    return try newest.belongs(to: files)
  }

  /// The newest complete point in the file beside a store, whether or not the disk has it; nil: there is none, or it cannot be read.
  static func point(of files: LMDBFiles) -> SafePoint? {
    guard let file = try? SafePointFile.openOurs(files.safePoint, writes: false, creates: false) else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: place * 2)
    guard let count = bytes.withUnsafeMutableBytes({ read(file, into: $0) }), count > 0 else { return nil }
    return newest(in: bytes)
  }

  private func failure() -> StorageError { .system(errno, doing: "write the safe point", path: path) }
}

extension SafePoint {
  /// Whether the system was restarted since, with unsynced commits.
  var isLeftOver: Bool {
    isArmed && system.isKnown && SystemStart.current.isKnown && system != SystemStart.current
  }

  /// Whether the point belongs to the data file: the point's version can be read in it completely, and it is of the same store.
  /// This always holds for its own file, whatever else a crash has torn. A file that was copied over it, whether another
  /// store's or another state of the same store, is not overwritten.
  ///
  /// Throws if the file cannot be read: treating it as another store's file would discard the point, and with it the way to
  /// restore.
  func belongs(to files: LMDBFiles) throws(StorageError) -> Bool {
    // With a journal, a copy of both files is put back as well: without that it may be torn. What the point says is looked for in it.
    guard (run != 0 && store != .unknown) || isOf(files) else { return false }
    let file = open(files.data, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw LMDBFiles.openError(errno, files.data) }
    defer { close(file) }
    return try belongs(to: file, files.data)
  }

  /// Throws if a point that cannot be put back is nevertheless of the file: then the file is damaged, and the journal has commits that only
  /// a whole one can take.
  func checkForeign(_ files: LMDBFiles) throws(StorageError) {
    guard run != 0, store != .unknown, isOf(files) else { return }
    let file = open(files.data, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw LMDBFiles.openError(errno, files.data) }
    defer { close(file) }
    let isSame = LMDBMeta.both(file).contains { meta in
      guard meta.transaction >= transaction, let root = meta.dataRoot else { return false }
      var walk = LMDBPageWalk(file: file, pageSize: meta.pageSize, pageCount: meta.lastPage &+ 1)
      return walk.value(of: StoreID.key, root: root).map { $0.withUnsafeBytes { StoreID($0) } == store } ?? false
    }
    guard isSame else { return }
    throw StorageError(
      .corrupt, .engine, "'\(files.data)' is damaged: the safe version that it had before a crash of the system is not whole.",
      remedy: "Restore it from a copy, or copy what can still be read into a new store with 'inspect salvage'.")
  }

  /// Whether the point was written for this very file.
  func isOf(_ files: LMDBFiles) -> Bool { FileIdentity(path: files.data)?.inode == inode }

  /// - Parameter file: the data file, open for reading.
  func belongs(to file: Int32, _ path: String) throws(StorageError) -> Bool {
    let size = lseek(file, 0, SEEK_END)
    guard size >= 0 else { throw LMDBFiles.openError(errno, path) }
    try checkReading(file, path)
    // Transaction numbers only grow; a smaller one belongs to another file.
    if let found = LMDBMeta.both(file).map(\.transaction).max(), found < transaction { return false }
    guard let own = LMDBMeta(meta) else { return false }
    var walk = LMDBPageWalk(file: file, pageSize: own.pageSize, pageCount: UInt64(size) / UInt64(own.pageSize))
    let isWhole = own.roots.allSatisfy { walk.isWhole($0, depth: 0) }
    try checkReading(walk, path)
    guard isWhole else { return false }
    // A file without entries has nothing to restore.
    guard let root = own.dataRoot else { return false }
    // A point of an older build has no more information.
    if store == .unknown { return true }
    let (id, record) = (walk.value(of: StoreID.key, root: root), walk.value(of: [0], root: root))
    try checkReading(walk, path)
    guard let id, let record else { return false }
    return id.withUnsafeBytes { StoreID($0) } == store
      && record.withUnsafeBytes { StoreRecord($0)?.version.rawValue } == version
  }

  private func checkReading(_ walk: LMDBPageWalk, _ path: String) throws(StorageError) {
    if let number = walk.readError { throw .system(number, doing: "read", path: path) }
  }

  /// Throws if the first byte cannot be read. Checks nothing else.
  private func checkReading(_ file: Int32, _ path: String) throws(StorageError) {
    var byte: UInt8 = 0
    if pread(file, &byte, 1, 0) < 0 { throw .system(errno, doing: "read", path: path) }
  }

  /// The point for the newest transaction of the file. Requires that nobody writes and everything is synced or about to be.
  /// `view` is of that transaction.
  init(newestOf files: LMDBFiles, _ view: LMDBView) throws(StorageError) {
    let file = open(files.data, O_RDONLY | O_CLOEXEC)
    guard file >= 0, let identity = FileIdentity(path: files.data) else { throw LMDBFiles.openError(errno, files.data) }
    defer { close(file) }
    let metas = LMDBMeta.both(file)
    guard let newest = metas.max(by: { $0.transaction < $1.transaction }) else {
      throw StorageError(.corrupt, .engine, "'\(files.data)' has lost its first pages.", remedy: "Restore the store from a copy.")
    }
    self.init(
      sequence: 0, isArmed: true, system: .current, inode: identity.inode, transaction: newest.transaction,
      meta: newest.bytes)
    store = try StoreID.find(in: view)
    if case .found(let record) = try StoreRecord.find(in: view) { version = record.version.rawValue }
  }

  /// Overwrites both meta pages with the point's.
  func write(to files: LMDBFiles) throws(StorageError) {
    let file = open(files.data, O_RDWR | O_CLOEXEC)
    guard file >= 0 else { throw LMDBFiles.openError(errno, files.data) }
    defer { close(file) }
    let pageSize = meta.withUnsafeBytes { Int($0.loadUnaligned(fromByteOffset: LMDBMeta.pageSizeOffset, as: UInt32.self)) }
    for page in 0..<2 {
      var bytes = meta
      // A page begins with its own number.
      withUnsafeBytes(of: UInt64(page)) { bytes.replaceSubrange(0..<8, with: $0) }
      guard pwrite(file, bytes, bytes.count, off_t(page * pageSize)) == bytes.count else {
        throw .system(errno, doing: "put back the safe point of", path: files.data)
      }
    }
    if fsync(file) != 0 { throw .system(errno, doing: "put back the safe point of", path: files.data) }
  }
}
