import CVivariumLMDB
import StorageCoordination
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface

extension LMDBEnvironment {
  static let table = EnvironmentTable()
  /// Permissions of new stores, before the umask: readers of the same group need to write the lock file. Files beside a store get
  /// the permissions of its data file.
  static let mode: UInt32 = 0o664

  /// Opens the store at `path`, or returns its open environment.
  static func open(
    _ path: String, isReadOnly: Bool, createsIfMissing: Bool, mode: UInt32 = LMDBEnvironment.mode,
    map: MapBounds = MapBounds()
  ) throws(StorageError) -> LMDBEnvironment {
    if let files = LMDBFiles(existing: path) { return try open(files, isReadOnly: isReadOnly, map) }
    let number = errno
    guard !isReadOnly, createsIfMissing, number == ENOENT else { throw LMDBFiles.openError(number, path) }
    let files = try LMDBFiles.creating(path, mode: mode)
    do {
      return try open(files, isReadOnly: false, map)
    } catch {
      files.removeIfUnused()
      throw error
    }
  }

  private static func open(
    _ files: LMDBFiles, isReadOnly: Bool, _ map: MapBounds
  ) throws(StorageError) -> LMDBEnvironment {
    try files.refuseOtherNames()
    if isReadOnly {
      try refuseTornStore(files)
    } else {
      try SafePointFile.restore(files, mode: files.sideMode)
    }
    let header = try LMDBHeader(path: files.data)
    try header.check(path: files.data)
    if header.kind == .empty, isReadOnly {
      throw StorageError(.fileNotFound, .engine, "'\(files.data)' holds no store yet.", remedy: "Open it for writing once.")
    }
    if header.kind == .database { try refuseForeignDatabase(files) }
    let environment = try table.environment(files) { open, token throws(StorageError) in
      try isReadOnly && open?.isReadOnly != false
        ? reader(files, open, token, map) : writer(files, open, token, map)
    }
    if environment.isReadOnly, !isReadOnly {
      throw StorageError(
        .alreadyOpen, .engine, "'\(files.data)' is open read-only in this process.",
        remedy: "Close it first, or open it for writing from the start.")
    }
    try environment.checkRecord()
    if !environment.isReadOnly {
      environment.clearDeadReaders()
      // For space that readers held when the last writer closed.
      environment.giveBackSpaceIfDue()
    }
    return environment
  }

  // MARK: Steps

  private static func writer(
    _ files: LMDBFiles, _ open: RawEnvironment?, _ token: UInt64, _ map: MapBounds
  ) throws(StorageError) -> (RawEnvironment, LMDBEnvironment) {
    let presence = try StorePresence(path: files.coordination, as: .writer, mode: files.sideMode)
    try files.claim(presence)
    let lock = try FileWriterLock(path: files.coordination, mode: files.sideMode)
    let bell = try FileDoorbell(path: files.bell, isReadOnly: false, mode: files.sideMode)
    guard access(files.data, W_OK) == 0 else { throw LMDBFiles.openError(errno, files.data) }
    let raw: RawEnvironment
    if let open {
      raw = open
    } else {
      raw = try protected(files, isReadOnly: false, map)
    }
    return (
      raw,
      LMDBEnvironment(raw: raw, token: token, files: files, presence: presence, writerLock: lock, bell: bell, map: map)
    )
  }

  /// Opens without the right to write. LMDB protects a reader through its lock file; if that cannot be written, `ReaderPins` do.
  private static func reader(
    _ files: LMDBFiles, _ open: RawEnvironment?, _ token: UInt64, _ map: MapBounds
  ) throws(StorageError) -> (RawEnvironment, LMDBEnvironment) {
    let bell = try FileDoorbell(path: files.bell, isReadOnly: true)
    func wrapped(_ raw: RawEnvironment, _ presence: StorePresence?, _ pins: ReaderPins? = nil) -> (RawEnvironment, LMDBEnvironment) {
      let environment = LMDBEnvironment(
        raw: raw, token: token, files: files, presence: presence, writerLock: nil, bell: bell, pins: pins, map: map)
      return (raw, environment)
    }
    let presence = try optionalPresence(files, as: .reader)
    if let open {
      if !open.isLockless { return wrapped(open, presence) }
      let (guardian, pins) = try protection(files, open, presence)
      return wrapped(open, guardian, pins)
    }
    let table: RawEnvironment
    do throws(StorageError) {
      table = try protected(files, isReadOnly: true, map)
    } catch {
      guard error.code == .permissionDenied else { throw error }
      let raw = try RawEnvironment(
        files: files, isReadOnly: true, isLockless: true, mapSize: map.first(for: files), mapSizeMax: map.last,
        mode: files.sideMode)
      do throws(StorageError) {
        let (guardian, pins) = try protection(files, raw, presence)
        return wrapped(raw, guardian, pins)
      } catch {
        raw.close()
        throw error
      }
    }
    if presence == nil { return wrapped(table, try latePresence(files, table)) }
    return wrapped(table, presence)
  }

  /// The presence of a reader that found no coordination file and has claimed the data file since. Whoever replaces that makes one first,
  /// and looks for claims then: so of the two one sees the other.
  private static func latePresence(_ files: LMDBFiles, _ raw: RawEnvironment) throws(StorageError) -> StorePresence? {
    do throws(StorageError) {
      let presence = try optionalPresence(files, as: .reader)
      guard raw.isInPlace else { throw StorageError.replaced(files.data) }
      return presence
    } catch {
      raw.close()
      throw error
    }
  }

  /// What protects a reader without a place in LMDB's table: its locks on the data file. Where the system has none, its presence keeps
  /// writers away, if there is a coordination file.
  private static func protection(
    _ files: LMDBFiles, _ raw: RawEnvironment, _ presence: StorePresence?
  ) throws(StorageError) -> (StorePresence?, ReaderPins?) {
    if let pins = try ReaderPins(files, of: raw.pointer) { return (presence, pins) }
    return (try optionalPresence(files, as: .unprotectedReader), nil)
  }

  /// Opens with LMDB's table of readers, with the lock file's blocks reserved, and with a claim on the file against users of
  /// another table.
  private static func protected(
    _ files: LMDBFiles, isReadOnly: Bool, _ map: MapBounds
  ) throws(StorageError) -> RawEnvironment {
    try files.refuseOtherTables()
    try files.reserveLock(mode: files.sideMode, isReadOnly: isReadOnly)
    let raw = try RawEnvironment(
      files: files, isReadOnly: isReadOnly, isLockless: false, mapSize: map.first(for: files), mapSizeMax: map.last,
      mode: files.sideMode)
    do throws(StorageError) {
      try raw.claimTable()
      return raw
    } catch {
      raw.close()
      throw error
    }
  }

  private static func refuseTornStore(_ files: LMDBFiles) throws(StorageError) {
    guard try SafePointFile.isRestoreDue(files) else { return }
    throw StorageError(
      .corrupt, .engine, "The system went down while '\(files.data)' had commits that were not synced.",
      remedy: "Open it for writing once; that puts it back to its last safe version.")
  }

  /// Nil if there never was a writer: a store copied to a read-only place has only its data file.
  private static func optionalPresence(
    _ files: LMDBFiles, as role: StorePresence.Role
  ) throws(StorageError) -> StorePresence? {
    do {
      return try StorePresence(path: files.coordination, as: role)
    } catch where error.code == .fileNotFound {
      return nil
    }
  }

  /// Rejects an LMDB file that no store has used yet, which may be another program's. Reads it without LMDB's lock file, so
  /// that no file is created beside it.
  private static func refuseForeignDatabase(_ files: LMDBFiles) throws(StorageError) {
    guard FileIdentity(path: files.coordination) == nil, let identity = FileIdentity(path: files.data),
      !table.isOpen(identity)
    else { return }
    let raw = try RawEnvironment(files: files, isReadOnly: true, isLockless: true, mapSize: RawEnvironment.mapSizeMin, mode: 0)
    defer { raw.close() }
    var transaction: OpaquePointer?
    guard mdb_txn_begin(raw.pointer, nil, UInt32(MDB_RDONLY), &transaction) == 0, let transaction else { return }
    defer { mdb_txn_abort(transaction) }
    guard let view = try StorePages(path: files.data).view(of: transaction) else { return }
    if try StoreRecord.find(in: view) == .foreign { throw foreign(files) }
  }

  /// Rejects files that are not stores, and stores of a newer build.
  private func checkRecord() throws(StorageError) {
    let (transaction, view) = try beginView()
    defer { endRead(transaction) }
    // This build does not know how a later format checks its entries.
    if let format = pages.format, format > StoreRecord.encryptedFormat {
      throw StorageError(
        .unsupportedVersion, .engine, "'\(files.data)' has format \(format); this build reads up to \(StoreRecord.encryptedFormat).",
        remedy: "Open it with a newer build.")
    }
    if try StoreRecord.find(in: view) == .foreign { throw LMDBEnvironment.foreign(files) }
  }

  private static func foreign(_ files: LMDBFiles) -> StorageError {
    StorageError(
      .foreignFile, .engine, "'\(files.data)' is an LMDB file of another program.",
      remedy: "Give the path of a store, or of a file that does not exist yet.")
  }
}

/// The address space a store takes, for tests.
struct MapBounds {
  var first: Int?
  var last = Int.max

  func first(for files: LMDBFiles) -> Int { first ?? AddressSpace.mapSize(for: files.dataBytes) }
}
