import CVivariumLMDB
import ColumnStore
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface
import StoreValues

extension LMDBStore {
  /// Follows both trees of the snapshot's version page by page, as they are in the file.
  package func verifyPages(_ snapshot: any KeyValueSnapshot, _ report: (StoreFault) -> Void) throws(StorageError) {
    guard let snapshot = snapshot as? LMDBSnapshot, let number = snapshot.number else { return }
    if let page = try LMDBPageWalk.faultyPage(of: number, path: environment().files.data) {
      report(StoreFault("page \(page)", "is damaged, or leads out of the file"))
    }
  }
}

extension LMDBPageWalk {
  /// The first wrong page of a transaction whose version is held; nil when there is none.
  fileprivate static func faultyPage(of transaction: UInt64, path: String) throws(StorageError) -> UInt64? {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw LMDBFiles.openError(errno, path) }
    defer { close(file) }
    let size = lseek(file, 0, SEEK_END)
    // Commits may go on: the held pages stay, but their meta page is written over by the second commit after.
    guard size >= 0, let meta = LMDBMeta.both(file).first(where: { $0.transaction == transaction }) else {
      return nil
    }
    var walk = LMDBPageWalk(
      file: file, pageSize: meta.pageSize, pageCount: UInt64(size) / UInt64(meta.pageSize))
    for root in meta.roots where !walk.isWhole(root, depth: 0) { return walk.faultyPage ?? root }
    return nil
  }
}
