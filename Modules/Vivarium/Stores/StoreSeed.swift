import ChangeTracker
import Foundation
import StorageCoordination
import StorageInterface
import StoreValues

extension StoreConfiguration {
  /// `seed` as a URL.
  ///
  /// ```swift
  /// guard let world = Bundle.main.url(forResource: "world", withExtension: "store") else { … }
  /// configuration.seedURL = world
  /// ```
  ///
  /// A bundle without the resource gives nil, and with nil a new store is empty.
  public var seedURL: URL? {
    get { seed.map { URL(fileURLWithPath: $0) } }
    set { seed = newValue?.storePath }
  }

  /// Opens the engine. Where there is no file yet, it begins as the copy of the seed: `isSeeded`, if this call has made it.
  func openEngine(flag: StopFlag? = nil) throws(StoreError) -> (engine: any StorageEngine, isSeeded: Bool) {
    var options = self.options
    var isSeeded = false
    if let seed, options.createsIfMissing, !options.isReadOnly {
      if !backend.isPresent() { isSeeded = try StoreSeed(path: seed, configuration: self, flag: flag).plant() }
      // Never an empty store in place of the seed, whoever removes the copy meanwhile.
      options.createsIfMissing = false
    }
    let engine = try storing { () throws(StorageError) in try backend.open(options) }
    return (engine, isSeeded)
  }
}

/// The store as whose copy a missing file begins.
///
/// The engine writes a copy beside the file, and gives it the name when it is complete and on the disk, never over another file. So
/// whoever is killed leaves no file or a whole one, and of those who open a store at once all but one find the first one's copy.
struct StoreSeed {
  /// How long another opener, or what an older store has left, may get in the way. That store may be closing still; and a process
  /// that this one starts has its locks until it runs its own program.
  private static let patience: Duration = .seconds(2)

  let path: String
  let configuration: StoreConfiguration
  /// Checked while the copy is written.
  let flag: StopFlag?
  /// Runs between two attempts.
  var pause: () -> Void = { usleep(1_000) }

  /// Makes the file. False if something is there: another process was faster, or a file that is none of ours lies in the place.
  ///
  /// Throws the errors of reading the seed and of writing the copy, with the path of the seed, `.newerSchema` if the program is too
  /// old for it, and `.syncRequired` for a replica's file in a store that is none.
  func plant() throws(StoreError) -> Bool {
    guard let backend = configuration.backend as? any SeedReading else { throw failure(unsupported) }
    let seed: (engine: any StorageEngine, encryption: CopyEncryption)
    do throws(StorageError) { seed = try backend.openSeed(path) } catch {
      throw failure(error, ifMissing: "Check the path: a file of a bundle is among the resources of its target.")
    }
    let isReplicated = try check(seed.engine)
    let deadline = Deadline.after(StoreSeed.patience)
    while true {
      do throws(StorageError) {
        try copy(seed.engine, seed.encryption, backend, isReplicated: isReplicated)
        return true
      } catch {
        guard error.code == .fileExists else { throw failure(error) }
        if backend.isPresent() || !EmptyFile.isAt(backend.location) { return false }
        if deadline.remaining == .zero { throw failure(error) }
      }
      try clear(backend)
    }
  }

  /// Removes what an older store has left: side files without a data file, or with an empty one.
  private func clear(_ backend: any SeedReading) throws(StoreError) {
    do throws(StorageError) { try backend.remove() } catch {
      // Somebody makes the store, or removes it, right now.
      guard error.code == .alreadyOpen else { throw failure(error) }
      pause()
    }
  }

  /// Throws if this program cannot use what is in the seed. Returns whether that is a replica.
  private func check(_ engine: any StorageEngine) throws(StoreError) -> Bool {
    let read: any ReadTransaction
    do throws(StorageError) { read = try engine.beginRead() } catch { throw failure(error) }
    defer { read.end() }
    if let refusal = configuration.refusal(of: read.catalog) {
      throw StoreError(
        refusal.code, "The seed '\(path)' cannot be used. \(refusal.message)", remedy: refusal.remedy,
        details: refusal.details.merging(["seed": path]) { old, _ in old })
    }
    guard read.catalog.hasSideEntries else { return false }
    if (configuration.companion as? any StoreCompanion) != nil { return true }
    throw failure(
      StorageError(
        .syncRequired, .engine, "It is the file of a replica, and the store is opened without replication.",
        remedy: "Set 'configuration.sync', or ship a file that was never replicated: 'inspect copy' makes one."))
  }
}

// MARK: - Copying

extension StoreSeed {
  private func copy(
    _ seed: any StorageEngine, _ encryption: CopyEncryption, _ backend: any SeedReading, isReplicated: Bool
  ) throws(StorageError) {
    guard isReplicated || configuration.options.isPrivate else { return try write(seed, to: backend.location, encryption) }
    // What has to be changed in a copy is changed in one that nobody looks for. Whoever makes the next file of the name removes what
    // a killed process left.
    let anchor = try AsideFile(for: backend.location, mode: 0o600)
    let draft = backend.elsewhere(anchor.path + ".store")
    defer {
      anchor.letGo()
      if (try? draft.remove()) != nil { anchor.remove() }
    }
    try write(seed, to: draft.location, encryption)
    // Not every engine can make it private from the start.
    if configuration.options.isPrivate, chmod(draft.location, 0o600) != 0 {
      throw .system(errno, .statement, doing: "keep others out of", path: draft.location)
    }
    let engine = try draft.open(OpenOptions(createsIfMissing: false, historyLimit: configuration.options.historyLimit))
    defer { engine.close() }
    if isReplicated { try makeAnother(engine) }
    try write(engine, to: backend.location, .unchanged)
  }

  private func write(_ engine: any StorageEngine, to path: String, _ encryption: CopyEncryption) throws(StorageError) {
    guard let copying = engine.powers.copying else { throw unsupported }
    try copying.writeCopy(to: path, encryption, isPrivate: configuration.options.isPrivate) { _ in
      flag?.isActive == false ? .stop : .proceed
    }
  }

  /// Makes the copy of a replica another replica: two files that are one would take each other's changes for their own.
  private func makeAnother(_ engine: any StorageEngine) throws(StorageError) {
    guard let companion = configuration.companion as? any StoreCompanion else { return }
    let write = RecordedTransaction(
      try engine.beginWrite(.never), origin: StoreOrigin.remote, recordsValues: false, followsRules: false, companion: nil)
    defer { write.end() }
    try companion.becomeAnother(write)
    _ = try write.commit(author: nil, timeMilliseconds: Store.now, .full)
  }

  // MARK: Errors

  private var unsupported: StorageError {
    StorageError(
      .unsupported, .statement, "A store of the engine '\(configuration.backend.kind)' cannot begin as the copy of a file.",
      remedy: "Copy the seed's objects into it, or keep it in a file.")
  }

  /// An error with the paths of the seed and of the store.
  private func failure(_ error: StorageError, ifMissing: String? = nil) -> StoreError {
    let remedy =
      switch error.code {
      case .fileNotFound: ifMissing ?? error.remedy
      case .corrupt: "Put a whole file there: 'writeCopy(to:)' writes one."
      default: error.remedy
      }
    return StoreError(
      StoreError.Code(rawValue: error.code.rawValue),
      "The seed '\(path)' could not be copied to '\(configuration.backend.location)': \(error.message)",
      remedy: remedy.isEmpty ? nil : remedy, details: ["seed": path], underlying: error)
  }
}
