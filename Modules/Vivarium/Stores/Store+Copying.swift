import Foundation
import StorageInterface
import StoreValues

extension Store {
  /// Writes the newest committed version to a new file: a back-up of a store in use, a file to ship with an app, or the same data
  /// under another key.
  ///
  /// ```swift
  /// try store.writeCopy(to: "backups/2026-11-27.store") { progress in
  ///   print(Int(progress.fraction * 100), "%")
  ///   return !isCancelled
  /// }
  /// ```
  ///
  /// The copy has one whole version with its history and identity, has no free space, and is durable when this returns. Others,
  /// including other processes, can read and write meanwhile. It is opened like any store, with the engine that wrote it.
  ///
  /// - Parameters:
  ///   - path: the new file, which must not exist; its folder must.
  ///   - encryption: the copy's key, if not the store's own.
  ///   - progress: called every few megabytes on this thread. Returning false stops the copy, as does cancelling the task.
  ///
  /// Returns the version that was copied: what changes after it can be written as an increment (`writeCopy(to:since:)`).
  ///
  /// Blocks the thread while it reads the data and writes it once; for a large store, call it in a separate task with its own store
  /// (`Store(store.configuration)`). After an error there is nothing at `path`. Throws `.fileExists`, `.alreadyInWrite` in a write
  /// of this store, `.cancelled`, `.unsupported` in memory, `.corrupt`, `.permissionDenied`, `.outOfDiskSpace`, `.io`.
  @discardableResult
  public func writeCopy(
    to path: String, encryption: CopyEncryption = .unchanged, progress: (CopyProgress) -> Bool = { _ in true }
  ) throws(StoreError) -> Version {
    try checkNotWriting(remedy: "Commit or cancel it first.")
    guard let engine = shared.engine.powers.copying else {
      throw StoreError(
        .unsupported, "A store of the engine '\(shared.engine.kind)' has no file that could be copied.",
        remedy: "Copy its objects into a store in a file.")
    }
    return try storing { () throws(StorageError) in
      try engine.writeCopy(to: path, encryption) { progress($0) && !Task.isCancelled ? .proceed : .stop }
    }
  }

  /// Writes a copy to a file URL; see `writeCopy(to:encryption:progress:)` for a path.
  @discardableResult
  public func writeCopy(
    to url: URL, encryption: CopyEncryption = .unchanged, progress: (CopyProgress) -> Bool = { _ in true }
  ) throws(StoreError) -> Version {
    guard url.isFileURL else {
      throw StoreError(.fileNotFound, "'\(url.absoluteString)' is not the address of a file.", remedy: "Give a file's URL or path.")
    }
    return try writeCopy(to: url.path(percentEncoded: false), encryption: encryption, progress: progress)
  }
}

extension Store {
  /// Encrypts a closed store with another key, at its path: an encrypted one with a new key, a plain one with its first, or (nil)
  /// an encrypted one with none. Objects, history, versions and identity stay as they are.
  ///
  /// ```swift
  /// try Store.changeKey(of: .sqlite(url, key: old), to: new)
  /// let store = try Store(.sqlite(url, key: new, models: Person.self))
  /// ```
  ///
  /// At any moment the file is whole, with the old key or with the new one, whoever is killed and whenever the power fails. Call it
  /// again then: it does nothing if the store has the new key already. What was in the file before may still be on the disk.
  ///
  /// - Parameters:
  ///   - configuration: the store with its present key; the models do not matter.
  ///   - key: the new key; nil: not encrypted.
  ///   - progress: called every few megabytes on this thread. Returning false stops, as does cancelling the task.
  ///
  /// Blocks the thread while it reads the data and writes it once; needs as much free space as the file. Throws `.alreadyOpen` while
  /// any process has the store open, `.fileNotFound`, `.wrongKey`, `.missingKey`, `.notEncrypted`, `.cancelled`, `.unsupported` for
  /// engines that cannot encrypt, `.corrupt`, `.permissionDenied`, `.outOfDiskSpace`, `.io`; then the store is as before.
  public static func changeKey(
    of configuration: Configuration, to key: (any StoreKey)?, progress: (CopyProgress) -> Bool = { _ in true }
  ) throws(StoreError) {
    guard let backend = configuration.backend as? any KeyChanging else {
      throw StoreError(
        .unsupported, "The engine '\(configuration.backend.kind)' cannot encrypt a store.", remedy: "Use LMDB or SQLite.")
    }
    try storing { () throws(StorageError) in
      try backend.changeKey(to: key) { progress($0) && !Task.isCancelled ? .proceed : .stop }
    }
  }
}
