import ChangeTracker
import Dispatch
import Notifications
import StorageInterface

/// The file of a store without its objects, for a layer above that keeps its own data beside them, on its own threads. Keeps the
/// file open.
package struct SharedFile: Sendable {
  private static let queue = DispatchQueue(label: "vivarium.books")

  private let shared: SharedEngine
  private let configuration: StoreConfiguration
  private let companion: (any CommitCompanion)?
  private let writeTimeout: Duration?
  /// The path; nil for a store in memory, which no other process can open.
  package let path: String?

  fileprivate init(_ store: Store) {
    shared = store.shared
    configuration = store.configuration
    companion = store.configuration.commitCompanion
    writeTimeout = store.configuration.writeTimeout
    let backend = store.configuration.backend
    path = backend.isFile ? backend.location : nil
  }

  /// The number of the open file in this process: the same for all its stores.
  package var number: UInt64 { shared.number }

  /// Whether objects of a type are also written elsewhere, in other replicas of the file.
  package func replicates(_ typeName: String) -> Bool { (companion as? any StoreCompanion)?.replicates(typeName) ?? false }

  /// Reads the newest version.
  package func read<R>(_ body: (any StorageReading) throws -> R) throws -> R {
    let snapshot = try shared.engine.beginRead()
    defer { snapshot.end() }
    return try body(snapshot)
  }

  /// The newest version for any thread, with the types of the store from which this was made.
  package func freeze(fileID: StaticString = #fileID, line: UInt = #line) throws(StoreError) -> FrozenStore {
    try FrozenStore(configuration, shared, place: "\(fileID):\(line)")
  }

  /// Writes changes of other replicas: see `SharedEngine.integrate`. Durable when it returns.
  package func integrate<R: Sendable>(
    author: String? = nil, _ body: @escaping @Sendable (RecordedTransaction) throws -> R
  ) async throws -> R {
    let result = await withCheckedContinuation { continuation in
      let deadline = writeTimeout.map { Deadline.after($0) } ?? .never
      shared.integrate(author: author, durability: .full, deadline: deadline, companion: companion, body) {
        continuation.resume(returning: $0)
      }
    }
    return try result.get()
  }

  /// Runs `body` in a write of the calling thread that is always undone: it looks at objects as the file would have them. Waits for other
  /// writes of the file.
  package func tryOut<R>(_ body: (RecordedTransaction) throws -> R) throws -> R {
    let write = RecordedTransaction(
      try shared.engine.beginWrite(.never), origin: StoreOrigin.remote, recordsValues: false, followsRules: false, companion: nil)
    defer { write.end() }
    return try body(write)
  }

  /// Returns when all earlier commits are durable.
  package func makeDurable() async throws {
    let error = await withCheckedContinuation { continuation in
      shared.syncer.sync(allowGrouping: true) { continuation.resume(returning: $0) }
    }
    if let error { throw error }
  }

  /// Calls `body` after each commit, by any process; several commits in quick succession may cause one call.
  package func onCommit(_ body: @escaping @Sendable () -> Void) throws -> CommitSubscription {
    do throws(StorageError) { return try shared.notifier.subscribe(.queue(SharedFile.queue), body) } catch { throw StoreError(error) }
  }
}

extension Store {
  /// The store's file.
  package var file: SharedFile { SharedFile(self) }
}

/// A layer above that works on a file while a store of it is open for writing. A `StoreConfiguration.companion` may be one.
package protocol StoreCompanion: Sendable {
  /// Called once for each store that the program opens. The attachment lives as long as the store; nil if there is nothing to do.
  /// Must be quick.
  func attachment(to file: SharedFile) -> (any AnyObject & Sendable)?

  /// Whether objects of a type are also written elsewhere, in other replicas of the file.
  func replicates(_ typeName: String) -> Bool

  /// Makes a file that was copied another replica than the one it was copied from, in an open write. Does nothing in a file that is
  /// no replica.
  func becomeAnother(_ write: RecordedTransaction) throws(StorageError)
}

extension StoreConfiguration {
  /// Whether objects of a type are also written elsewhere, in other replicas of the file.
  package func replicates(_ typeName: String) -> Bool { (companion as? any StoreCompanion)?.replicates(typeName) ?? false }
}
