import Foundation
import StorageIncrements
import StorageInterface
import StoreValues

extension Store {
  /// Writes what changed since a version to a new file, an *increment* of a copy that was made of that version: a small back-up.
  ///
  /// ```swift
  /// let monday = try store.writeCopy(to: "backups/monday.store")
  /// // … a day later
  /// let tuesday = try store.writeCopy(to: "backups/tuesday.increment", since: monday)
  /// // … and when the store is lost
  /// try Store.restore(configuration, from: "backups/monday.store", increments: ["backups/tuesday.increment"])
  /// ```
  ///
  /// The file has the commits after `version` up to the newest one, whose version is returned, and the objects that they changed. It is
  /// no store, and is its owner's alone (permissions 0600). Others, including other processes, can read and write meanwhile.
  ///
  /// It can be written as long as the history has the commits (`options.historyLimit`), and if they say everything: not if one of them
  /// changed the types, was written by another program, or if the store is a replica. Then it throws `.needsFullCopy`.
  ///
  /// - Parameters:
  ///   - path: the new file, which must not exist; its folder must.
  ///   - version: what `writeCopy` returned for the copy, or for the increment before.
  ///   - encryption: the file's key, if not the store's own.
  ///   - progress: called every few megabytes on this thread. Returning false stops, as does cancelling the task.
  ///
  /// Blocks the thread. O(changes). After an error there is nothing at `path`. Throws `.needsFullCopy`, `.fileExists`,
  /// `.alreadyInWrite` in a write of this store, `.cancelled`, `.unsupported` in memory, `.corrupt`, `.permissionDenied`,
  /// `.outOfDiskSpace`, `.io`.
  @discardableResult
  public func writeCopy(
    to path: String, since version: Version, encryption: CopyEncryption = .unchanged,
    progress: (CopyProgress) -> Bool = { _ in true }
  ) throws(StoreError) -> Version {
    try checkNotWriting(remedy: "Commit or cancel it first.")
    let engine = shared.engine
    guard engine.powers.copying != nil else {
      throw StoreError(
        .unsupported, "A store of the engine '\(engine.kind)' has no file that an increment could follow.",
        remedy: "Copy its objects into a store in a file.")
    }
    return try storing { () throws(StorageError) in
      try IncrementWriter.write(engine, since: version, to: path, encryption) {
        progress($0) && !Task.isCancelled ? .proceed : .stop
      }
    }
  }

  /// Writes an increment to a file URL; see `writeCopy(to:since:encryption:progress:)` for a path.
  @discardableResult
  public func writeCopy(
    to url: URL, since version: Version, encryption: CopyEncryption = .unchanged,
    progress: (CopyProgress) -> Bool = { _ in true }
  ) throws(StoreError) -> Version {
    guard url.isFileURL else {
      throw StoreError(.fileNotFound, "'\(url.absoluteString)' is not the address of a file.", remedy: "Give a file's URL or path.")
    }
    return try writeCopy(to: url.path(percentEncoded: false), since: version, encryption: encryption, progress: progress)
  }

  /// Makes a store of a full copy and the increments that were written after it, and returns its version.
  ///
  /// ```swift
  /// try Store.restore(.sqlite("shop.store"), from: "backups/monday.store", increments: ["backups/tuesday.increment"])
  /// let store = try Store(.sqlite("shop.store", models: Order.self))
  /// ```
  ///
  /// The store equals what was copied, as it was at the last increment's version: the same objects under the same keys, with history
  /// and identity. The copy and the increments are only read.
  ///
  /// - Parameters:
  ///   - configuration: the store to be made, with its key, at a place where there is no file; the models do not matter. Of
  ///     its options `isPrivate` and `historyLimit` count.
  ///   - copy: the path of the full copy, which has the store's key, or is plain. Its engine is that of the configuration.
  ///   - increments: the paths of the increments, in the order in which they were written. Those of an encrypted copy are encrypted.
  ///   - progress: called every few megabytes on this thread. Returning false stops, as does cancelling the task.
  ///
  /// It is made beside its place and gets its name when it is on the disk: after an error, or when the process is killed, there is
  /// nothing at the place. Throws `.wrongIncrement` if the increments do not follow the copy one by one, `.fileExists`, `.corrupt`,
  /// `.foreignFile`, `.fileNotFound`, `.missingKey`, `.wrongKey`, `.notEncrypted`, `.cancelled`, `.unsupported` in memory,
  /// `.permissionDenied`, `.outOfDiskSpace`, `.io`. Blocks the thread while it copies the data twice and applies the changes.
  @discardableResult
  public static func restore(
    _ configuration: Configuration, from copy: String, increments: [String] = [],
    progress: (CopyProgress) -> Bool = { _ in true }
  ) throws(StoreError) -> Version {
    try storing { () throws(StorageError) in
      try StoreRestoration(configuration.backend, configuration.options).restore(copy, increments) {
        progress($0) && !Task.isCancelled ? .proceed : .stop
      }
    }
  }
}
