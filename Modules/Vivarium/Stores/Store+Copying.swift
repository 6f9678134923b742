import Foundation
import StorageInterface
import StoreValues

extension Store {
  /// Writes the newest committed version to a new file, of which nobody else needs to know: a back-up of a store that is in use, a file to
  /// ship with an app, or the same data under another key.
  ///
  /// ```swift
  /// try store.writeCopy(to: "backups/2026-11-27.store") { progress in
  ///   print(Int(progress.fraction * 100), "%")
  ///   return !isCancelled
  /// }
  /// ```
  ///
  /// The copy is one version as a whole, with its history and identity, without free space, and on the disk when this returns. Others
  /// read and write meanwhile, also other processes. It is opened like any store, by the engine that wrote it.
  ///
  /// - Parameters:
  ///   - path: where no file of a store is; its folder must exist.
  ///   - encryption: with which key, where not with the store's own. LMDB cannot encrypt.
  ///   - progress: called every few megabytes on this thread; false stops the copy, and so does cancelling the task.
  ///
  /// Blocks the thread for as long as reading the data and writing it once takes; for a large store, open it in a task of its own
  /// (`Store(store.configuration)`). After an error there is nothing at `path`. `.fileExists`, `.alreadyInWrite` in a write of this store,
  /// `.cancelled`, `.unsupported` in memory, `.corrupt`, `.permissionDenied`, `.outOfDiskSpace`, `.io`.
  public func writeCopy(
    to path: String, encryption: CopyEncryption = .unchanged, progress: (CopyProgress) -> Bool = { _ in true }
  ) throws(StoreError) {
    try checkNotWriting(remedy: "Commit or cancel it first.")
    guard let engine = shared.engine.powers.copying else {
      throw StoreError(
        .unsupported, "A store of the engine '\(shared.engine.kind)' has no file that could be copied.",
        remedy: "Copy its objects into a store in a file.")
    }
    try storing { () throws(StorageError) in
      try engine.writeCopy(to: path, encryption) { progress($0) && !Task.isCancelled ? .proceed : .stop }
    }
  }

  /// As `writeCopy(to:encryption:progress:)` for a path.
  public func writeCopy(
    to url: URL, encryption: CopyEncryption = .unchanged, progress: (CopyProgress) -> Bool = { _ in true }
  ) throws(StoreError) {
    guard url.isFileURL else {
      throw StoreError(.fileNotFound, "'\(url.absoluteString)' is not the address of a file.", remedy: "Give a file's URL or path.")
    }
    try writeCopy(to: url.path(percentEncoded: false), encryption: encryption, progress: progress)
  }
}
