import Dispatch
import Foundation
import StorageInterface
import StoreValues
import Synchronization

/// What stays of a store when its engine is closed.
final class ReferenceMedium: Sendable {
  let name: String
  let state = Mutex<ReferenceState?>(nil)

  init(name: String) { self.name = name }
}

/// The plain engine: the committed version as a value behind a lock, and nothing clever.
public final class ReferenceEngine: StorageEngine {
  public let kind = "reference"
  public var powers: EnginePowers { EnginePowers() }
  let place: ReferencePlace
  var medium: ReferenceMedium { place.medium }
  let options: OpenOptions
  private let layout: @Sendable (UInt64) -> any BatchLayout
  var lock: ReferenceLock { place.lock }
  private struct Shared {
    var isClosed = false
    /// The last key given out in each table, also by writes that were rolled back.
    var issued: [TableID: Int64] = [:]
    var pins: [ObjectIdentifier: Version] = [:]
    var listeners: [WeakListener] = []
    var calls: UInt64 = 0
  }
  private struct WeakListener { weak var listener: ReferenceListener? }
  private let shared = Mutex(Shared())
  private let queue = DispatchQueue(label: "reference.commits")

  init(_ place: ReferencePlace, _ options: OpenOptions, _ layout: @escaping @Sendable (UInt64) -> any BatchLayout) {
    self.place = place
    self.options = options
    self.layout = layout
  }

  var isClosed: Bool { shared.withLock { $0.isClosed } }

  func checkOpen() throws(StorageError) {
    if isClosed { throw StorageError(.closed, .engine, "The store is closed.") }
  }

  public func latestVersion() throws(StorageError) -> Version { try current().version }

  func current() throws(StorageError) -> ReferenceState {
    try checkOpen()
    return medium.state.withLock { $0 } ?? ReferenceState()
  }

  public func beginRead() throws(StorageError) -> any ReadTransaction {
    let state = try current()
    let read = ReferenceRead(self, state)
    shared.withLock { $0.pins[ObjectIdentifier(read)] = state.version }
    return read
  }

  public func beginWrite(_ deadline: Deadline) throws(StorageError) -> any WriteTransaction {
    try checkOpen()
    if options.isReadOnly { throw StorageError(.readOnly, .transaction, "The store is open for reading alone.") }
    try lock.acquire(deadline, for: self)
    do {
      let state = try current()
      shared.withLock { $0.issued.merge(state.issued) { max($0, $1) } }
      return ReferenceWrite(self, state)
    } catch {
      lock.release()
      throw error
    }
  }

  public func addCommitListener(
    unless isTold: @escaping @Sendable () -> Bool, _ body: @escaping @Sendable () -> Void
  ) throws(StorageError) -> any CommitListener {
    try checkOpen()
    let listener = ReferenceListener(unless: isTold, body)
    shared.withLock { $0.listeners.append(WeakListener(listener: listener)) }
    return listener
  }

  public func statistics() throws(StorageError) -> StorageStatistics {
    let state = try current()
    var statistics = StorageStatistics()
    let process = ProcessInfo.processInfo.processIdentifier
    let pins = shared.withLock { $0.pins.values.sorted() }
    statistics.pins = pins.map { VersionPin(version: $0, processID: process) }
    if let first = state.history.first, let last = state.history.last {
      statistics.historyVersions = first.version.rawValue...last.version.rawValue
    }
    return statistics
  }

  public func close() {
    shared.withLock { shared in
      shared.isClosed = true
      shared.listeners = []
    }
    lock.wakeWaiters(of: self)
  }
}

extension ReferenceEngine {
  func unpin(_ read: ReferenceRead) {
    let id = ObjectIdentifier(read)
    shared.withLock { _ = $0.pins.removeValue(forKey: id) }
  }

  /// The next key of a table.
  func issueKey(_ table: TableID) -> Int64 {
    shared.withLock { shared in
      shared.issued[table, default: 0] += 1
      return shared.issued[table, default: 0]
    }
  }

  /// Makes `key` the next one of a table: another engine may have left a gap, or forgotten keys that were given out
  /// in vain before it was opened. Only for keys that do not live.
  public func setNextKey(of table: TableID, _ key: ObjectKey) {
    shared.withLock { $0.issued[table] = key.rawValue - 1 }
  }

  /// The same, unless the next one is higher.
  func reserveKeys(of table: TableID, below key: ObjectKey) {
    guard key.rawValue > 1 else { return }
    shared.withLock { $0.issued[table] = max($0.issued[table] ?? 0, key.rawValue - 1) }
  }

  func issuedKeys() -> [TableID: Int64] { shared.withLock { $0.issued } }

  /// How one call cuts and writes its batches.
  func nextLayout() -> any BatchLayout {
    let call = shared.withLock { shared in
      shared.calls += 1
      return shared.calls
    }
    return layout(call)
  }

  func publish(_ state: ReferenceState) {
    medium.state.withLock { $0 = state }
    let listeners = shared.withLock { shared in
      shared.listeners.removeAll { $0.listener == nil }
      return shared.listeners.compactMap(\.listener)
    }
    let untold = listeners.filter { !$0.isTold() }
    queue.async { for listener in untold { listener.call() } }
  }
}
