import StorageInterface
import StoreValues

/// A store as of one version: sendable, and readable on any thread, whatever is written to the file afterwards.
///
/// ```swift
/// let texts = try before.read { store in store.objects(Note.self).map(\.text) }
/// ```
///
/// It holds its version for as long as it lives: space that newer commits free is not used again. It also keeps the file open.
public struct FrozenStore: Sendable {
  private let configuration: StoreConfiguration
  private let shared: SharedEngine
  private let snapshot: SharedVersion
  private let hold: VersionHold
  private let place: String

  /// Takes the newest version.
  init(_ configuration: StoreConfiguration, _ shared: SharedEngine, place: String) throws(StoreError) {
    let engine = shared.engine
    let newest = try storing { () throws(StorageError) in try engine.beginRead() }
    // A newer program may have migrated the file.
    if let refusal = configuration.refusal(of: newest.catalog) {
      newest.end()
      throw refusal
    }
    (self.configuration, self.shared, self.place) = (configuration, shared, place)
    hold = shared.versions.hold(newest.version, label: configuration.label, place: place)
    snapshot = SharedVersion(newest, of: newest.catalog.identity ?? shared.localIdentity) { try? engine.beginRead() }
  }

  /// The version that is read.
  public var version: Version { snapshot.version }

  /// Reads through a store of this version. In `body` it stays at it and cannot be written (`.readOnlyOperation`). Several threads may
  /// read at once. Objects are for `body` alone: return values, references (`reference`), or frozen objects (`freeze()`).
  ///
  /// Throws what `body` throws, and errors of opening a store. Reads cost a lock more than those of a live store, and scan where an engine
  /// answers part of a question by itself.
  public func read<R>(_ body: (Store) throws -> R) throws -> R {
    let store = try Store(configuration, shared, home: .manual, place: place, isBrief: true, snapshot: snapshot)
    store.reader.sharedVersion = snapshot
    return try store.readOnly { try body(store) }
  }
}
