import ChangeTracker
import Dispatch
import Notifications
import StorageInterface

/// The file of a store without its objects: for a layer above that keeps books beside them, on threads of its own. Keeps the file open.
package struct SharedFile: Sendable {
  private static let queue = DispatchQueue(label: "vivarium.books")

  private let shared: SharedEngine
  private let companion: (any CommitCompanion)?
  private let writeTimeout: Duration?
  /// Where it is; nil of a store in memory, which no other process can have.
  package let path: String?

  fileprivate init(_ store: Store) {
    shared = store.shared
    companion = store.configuration.commitCompanion
    writeTimeout = store.configuration.writeTimeout
    let backend = store.configuration.backend
    path = backend.isFile ? backend.location : nil
  }

  /// Of one open file of this process: two stores of one file have the same.
  package var number: UInt64 { shared.number }

  /// Reads the newest version.
  package func read<R>(_ body: (any StorageReading) throws -> R) throws -> R {
    let snapshot = try shared.engine.beginRead()
    defer { snapshot.end() }
    return try body(snapshot)
  }

  /// Writes what other replicas did: see `SharedEngine.integrate`. Survives a power cut when it returns.
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

  /// Returns when everything that was committed before survives a power cut.
  package func makeDurable() async throws {
    let error = await withCheckedContinuation { continuation in
      shared.syncer.sync(allowGrouping: true) { continuation.resume(returning: $0) }
    }
    if let error { throw error }
  }

  /// Calls after each commit, of whichever process; several in one call where they come faster.
  package func onCommit(_ body: @escaping @Sendable () -> Void) throws -> CommitSubscription {
    do throws(StorageError) { return try shared.notifier.subscribe(.queue(SharedFile.queue), body) } catch { throw StoreError(error) }
  }
}

extension Store {
  /// The store's file.
  package var file: SharedFile { SharedFile(self) }
}

/// A layer above that does something for a file for as long as a store of it is open for writing: a `StoreConfiguration.companion`
/// may be one.
package protocol StoreCompanion: Sendable {
  /// Called once for each store that people open; what it gives lives as long as the store. nil where there is nothing to do. Must be
  /// quick.
  func attachment(to file: SharedFile) -> (any AnyObject & Sendable)?
}
