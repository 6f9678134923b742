#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface
import StoreValues

/// Makes a store of a full copy and the increments that were written after it.
package struct StoreRestoration {
  private typealias Full = (engine: any StorageEngine, encryption: CopyEncryption)

  /// The store to be made, where there must be no file.
  private let backend: any SeedReading
  private let options: OpenOptions

  package init(_ backend: any StorageBackend, _ options: OpenOptions = OpenOptions()) throws(StorageError) {
    guard let seeds = backend as? any SeedReading else {
      throw StorageError(
        .unsupported, .statement, "A store of the engine '\(backend.kind)' has no file that could be restored.",
        remedy: "Restore it into a file, and copy its objects.")
    }
    (self.backend, self.options) = (seeds, options)
  }

  /// Makes the store, and returns its version. The copy and the increments are only read.
  ///
  /// It is made beside its place and gets its name when it is complete and on the disk; after an error, or when the process is killed,
  /// there is nothing at the place. Throws `.wrongIncrement` before anything is written if the increments do not follow the copy one by
  /// one; `.fileExists`, `.cancelled`, `.corrupt`, the errors of opening the copy, and those of writing.
  package func restore(
    _ copy: String, _ increments: [String], _ progress: (CopyProgress) -> Step
  ) throws(StorageError) -> Version {
    var info = stat()
    if lstat(backend.location, &info) == 0 { throw .exists(backend.location) }
    let full = try backend.openSeed(copy)
    guard let copying = full.engine.powers.copying else {
      throw StorageError(.unsupported, .statement, "A store of the engine '\(full.engine.kind)' cannot be copied.")
    }
    if increments.isEmpty, !options.isPrivate { return try copying.writeCopy(to: backend.location, full.encryption, progress) }
    try check(increments, full)
    // Whoever makes the next file of the name removes what a killed process left.
    let anchor = try AsideFile(for: backend.location, mode: 0o600)
    let draft = backend.elsewhere(anchor.path + ".store")
    defer {
      anchor.letGo()
      if (try? draft.remove()) != nil { anchor.remove() }
    }
    try copying.writeCopy(to: draft.location, full.encryption, isPrivate: options.isPrivate, progress)
    // Not every engine can make it private from the start.
    if options.isPrivate, chmod(draft.location, 0o600) != 0 {
      throw .system(errno, .statement, doing: "keep others out of", path: draft.location)
    }
    let engine = try draft.open(OpenOptions(createsIfMissing: false, historyLimit: options.historyLimit))
    defer { engine.close() }
    var applier = try IncrementApplier(engine)
    for path in increments {
      guard progress(CopyProgress(bytesWritten: 0, bytesExpected: 0)) == .proceed else { throw .copyStopped(backend.location) }
      try applier.apply(try file(path, full)) { (done) throws(StorageError) in
        if progress(done) == .stop { throw .copyStopped(backend.location) }
      }
    }
    guard let made = engine.powers.copying else { return applier.version }
    return try made.writeCopy(to: backend.location, .unchanged, progress)
  }

  /// Throws `.wrongIncrement` unless each begins where the one before it, or the copy, ends.
  private func check(_ increments: [String], _ full: Full) throws(StorageError) {
    let read = try full.engine.beginRead()
    defer { read.end() }
    let last = try read.newestRecord()
    var version = read.version
    for (place, path) in increments.enumerated() {
      let file = try file(path, full)
      if place == 0 { try IncrementApplier.check(file, follows: last, read.catalog) }
      guard file.head.identity == read.catalog.identity, file.head.from == version else {
        throw .wrongIncrement(
          path, "does not follow version \(version.rawValue) of the store that the copy is of",
          remedy: "Give all increments in the order in which they were written.")
      }
      version = file.head.to
    }
  }

  /// An increment may be plain only where the copy is.
  private func file(_ path: String, _ full: Full) throws(StorageError) -> IncrementFile {
    var key = full.engine.powers.key
    if case .key(let given) = full.encryption { key = given }
    return try IncrementFile(path, key: key, isPlainAllowed: full.engine.powers.key == nil)
  }
}
