import CVivariumLMDB
import ColumnStore
import StorageCoordination
import StorageInterface
import StoreValues

/// A read transaction. The bytes it lends are in the file's map and stay until `end`.
final class LMDBSnapshot: KeyValueSnapshot {
  let version: Version
  private let environment: LMDBEnvironment
  private let view: LMDBView
  /// Holds the version; nil once ended. Safe without a lock: by the protocol's contract, one thread at a time uses a snapshot.
  nonisolated(unsafe) private var transaction: OpaquePointer?

  init(_ environment: LMDBEnvironment) throws(StorageError) {
    let (transaction, view) = try environment.beginView()
    do throws(StorageError) {
      version = try environment.version(of: view)
    } catch {
      environment.endRead(transaction)
      throw error
    }
    self.environment = environment
    self.transaction = transaction
    self.view = view
  }

  deinit { end() }

  func value(for key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
    try running().value(for: key)
  }

  /// A large value has pages of its own, which do not change while a version holds them. A small one moves to another page
  /// after every change of a neighbour.
  func lastingValue(for key: UnsafeRawBufferPointer) throws(StorageError) -> LastingValue? {
    let view = try running()
    guard let bytes = try view.value(for: key) else { return nil }
    return view.hasOwnPages(bytes) ? LastingValue(inPlace: bytes) : LastingValue(copying: bytes)
  }

  /// The number of the map that all values of this snapshot are in. The snapshot retains the map.
  var memory: UInt64 { view.map.number }

  func visit(
    from start: UnsafeRawBufferPointer, sharing prefix: Int, reverse: Bool,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Step
  ) throws(StorageError) {
    let view = try running()
    try view.visitEntries(from: start, sharing: prefix, reverse: reverse) { key, value throws(StorageError) in
      if body(key, value) == .stop { return .stop }
      // `body` may have ended the snapshot.
      _ = try running()
      return .proceed
    }
  }

  func end() {
    guard let transaction else { return }
    self.transaction = nil
    environment.endRead(transaction)
  }

  /// The view, while the snapshot is open.
  func running() throws(StorageError) -> LMDBView {
    try environment.mark.check()
    guard transaction != nil else { throw .ended(environment.files.data) }
    return view
  }
}
