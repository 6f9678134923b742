import StorageCoordination
import StorageInterface
import Synchronization

/// The open environments of this process, by file.
///
/// An unreferenced environment's handle stays in the table until it is closed, so that a concurrent open takes it over instead
/// of opening the file a second time.
final class EnvironmentTable: Sendable {
  private struct Entry: Sendable {
    let identity: FileIdentity
    let raw: RawEnvironment
    weak let environment: LMDBEnvironment?
    /// LMDB's lock file, which only LMDB may open and close.
    let lock: FileIdentity?
    /// Identifies the environment that last took the handle; only that one closes it.
    let token: UInt64
    let mark: ForkMark
  }

  private struct State {
    /// A few, one per file.
    var entries: [Entry] = []
    var nextToken: UInt64 = 1

    func entry(_ identity: FileIdentity) -> Entry? {
      entries.first { $0.identity == identity && !$0.mark.isStale }
    }
  }

  private let state = Mutex(State())
  private let mark = ForkMark()

  /// Whether this process is a forked child of the one that made the table.
  var isForked: Bool { mark.isStale }

  /// The environment of the file at `files.data`, which must exist. `make` gets the handle that is still open, if any, and the
  /// token for `letGo`; if it throws, it must have opened nothing.
  func environment(
    _ files: LMDBFiles,
    make: (_ open: RawEnvironment?, _ token: UInt64) throws(StorageError) -> (RawEnvironment, LMDBEnvironment)
  ) throws(StorageError) -> LMDBEnvironment {
    try state.withLock { state throws(StorageError) in
      guard let identity = FileIdentity(path: files.data) else {
        throw StorageError(.fileNotFound, .engine, "There is no store at '\(files.data)'.")
      }
      let entry = state.entry(identity)
      if let environment = entry?.environment { return environment }
      // With two handles on one table of readers, the first to close would drop the other's locks.
      if entry == nil, let lock = FileIdentity(path: files.lock),
        state.entries.contains(where: { $0.lock == lock && !$0.mark.isStale }) {
        throw .replaced(files.data)
      }
      let token = state.nextToken
      let (raw, environment) = try make(entry?.raw, token)
      state.nextToken += 1
      state.entries.removeAll { $0.identity == identity }
      state.entries.append(
        Entry(
          identity: identity, raw: raw, environment: environment, lock: FileIdentity(path: files.lock), token: token,
          mark: ForkMark()))
      return environment
    }
  }

  /// Closes the handle, unless another environment has taken it over.
  func letGo(of raw: RawEnvironment, _ token: UInt64) {
    state.withLock { state in
      guard let i = state.entries.firstIndex(where: { $0.token == token }) else { return }
      state.entries.remove(at: i)
      raw.close()
    }
  }

  /// Whether the path leads to the lock file of a store that this process has open.
  func isLockFile(_ path: String) -> Bool {
    guard let identity = FileIdentity(path: path) else { return false }
    return state.withLock { state in state.entries.contains { $0.lock == identity && !$0.mark.isStale } }
  }

  /// Whether this process has the file open.
  func isOpen(_ identity: FileIdentity) -> Bool {
    state.withLock { $0.entry(identity) != nil }
  }
}
