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
import StoreValues

extension LMDBFiles {
  /// Removes all files; whatever else lies under their names stays. The caller has ensured that nobody has the store open.
  func removeAll() throws(StorageError) {
    // All are looked at first: who may have made a side file is asked of the data file.
    let own = ([data + FileTurn.replication] + all).filter { !isForeign($0) }
    for path in own where unlink(path) != 0 && errno != ENOENT {
      throw .system(errno, doing: "remove", path: path)
    }
  }

  func isForeign(_ path: String) -> Bool {
    switch path {
    case data: false
    case lock: SideFile.isForeign(path) { isTable($0) }
    case safePoint: SideFile.isForeign(path) { SafePointFile.isOurs($0) }
    default: SideFile.isForeign(path)
    }
  }

  /// Removes all files. Throws `.alreadyOpen` if somebody has the store open.
  func removeIfAbsent() throws(StorageError) {
    try StorePresence.whileAbsent(path: coordination) { () throws(StorageError) in try removeAll() }
  }

  /// After a failed open, removes the files it has created. Keeps a store that existed before, that somebody has open, or that
  /// has a version by now.
  func removeIfUnused() {
    guard areNew else { return }
    do throws(StorageError) {
      try StorePresence.whileAbsent(path: coordination) { () throws(StorageError) in
        if isUnused { try removeAll() }
      }
    } catch {
      // Without a usable coordination file nobody can have the store open, nor remove more than the data.
      if error.code != .alreadyOpen, isUnused { unlink(data) }
    }
  }

  /// Whether no version was ever committed. Requires that nobody has the store open.
  private var isUnused: Bool {
    guard
      let raw = try? RawEnvironment(
        files: self, isReadOnly: true, isLockless: true, mapSize: RawEnvironment.mapSizeMin, mode: 0)
    else { return false }
    defer { raw.close() }
    var transaction: OpaquePointer?
    guard mdb_txn_begin(raw.pointer, nil, UInt32(MDB_RDONLY), &transaction) == 0, let transaction else { return false }
    defer { mdb_txn_abort(transaction) }
    guard let view = try? StorePages(path: data).view(of: transaction), let found = try? StoreRecord.find(in: view) else { return false }
    return switch found {
    case .none: true
    case .found(let record): record.version == Version(0)
    case .foreign: false
    }
  }
}
