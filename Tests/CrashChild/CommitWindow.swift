import CVivariumLMDB
import CVivariumSystem
import Foundation
import StorageCoordination
import StorageInterface

/// The moment inside a commit of LMDB's in which a kill leaves the most behind: the meta page of the new version is in the
/// file, and the number of the newest transaction, which lies beside the table of readers and by which they begin, is still
/// the old one. Two writes a few instructions apart; no kill finds them by chance in a test's time.
enum CommitWindow {
  struct NotThere: Error { var what: String }

  /// Ends this process as if it had been killed there, in the commit that it made last, with both rights to write held.
  /// Another process has the store open, or there would be no table of readers left.
  static func die(_ path: String) throws -> Never {
    guard let hold = try? FileWriterLock(path: path + ".coord").acquire(.after(.seconds(600))) else {
      throw NotThere(what: "the right to write")
    }
    var environment: OpaquePointer?
    var transaction: OpaquePointer?
    // A second handle in one process is wrong for who goes on; nobody does.
    guard mdb_env_create(&environment) == 0, mdb_env_open(environment, path, UInt32(MDB_NOSUBDIR | MDB_NOTLS), 0o600) == 0,
      mdb_txn_begin(environment, nil, 0, &transaction) == 0, let transaction
    else { throw NotThere(what: "LMDB's right to write") }
    let newest = UInt64(mdb_txn_id(transaction)) - 1
    let file = open(path + "-lock", O_RDWR)
    // Magic and format, the mutex of the table of readers, the number.
    let offset = 8 + MemoryLayout<pthread_mutex_t>.size
    guard file >= 0, let table = mmap(nil, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), table != MAP_FAILED else {
      throw NotThere(what: "the table of readers")
    }
    let number = (table + offset).assumingMemoryBound(to: UInt64.self)
    guard cs_load64(number) == newest else { throw NotThere(what: "the number of the newest transaction") }
    cs_store64(number, newest - 1)
    withExtendedLifetime(hold) { _ = kill(getpid(), SIGKILL) }
    throw NotThere(what: "the end")
  }
}
