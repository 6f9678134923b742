import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageInterface
import StoreValues
import Synchronization

/// The doorbell of a store in a file: wakes every process that listens.
///
/// Ringing overwrites a byte of the file `<store>.bell` with itself, and the system notifies listeners of the write. A killed
/// process leaves nothing behind, and listening needs only read permission.
///
/// Who listens holds a shared lock on the place behind that byte (`presencePlace`), which belongs to the open file: so a commit finds out
/// by one question to the system whether anybody listens through another one, and does not ring if not.
public final class FileDoorbell: Doorbell {
  private struct State {
    /// Who listens to this bell: whether it is told of the commit that this thread makes.
    var listeners: [UInt64: @Sendable () -> Bool] = [:]
    var nextID: UInt64 = 0
    /// The open file that holds the lock; −1: none does.
    var presence: Int32 = -1
  }

  private let path: String
  /// −1 if read-only: such a store has no commits to announce.
  private let descriptor: Int32
  private let mark = ForkMark()
  private let state = Mutex(State())
  /// As `state.presence`, to be looked at often.
  private let isPresent = Atomic(false)

  /// Opens the bell file at `path`, and creates it if missing. Read-only, the file may be missing: then only the check once a
  /// second remains.
  ///
  /// Throws `.permissionDenied`, `.outOfDiskSpace`, `.fileNotFound` (no such directory) or `.io`.
  public init(path: String, isReadOnly: Bool, mode: UInt32 = 0o664) throws(StorageError) {
    self.path = path
    guard !isReadOnly else {
      descriptor = -1
      return
    }
    let file = try SideFile.open(path, FileDoorbell.name, writes: true, creates: true, mode: mode)
    guard FileDoorbell.isOurs(file, path) else {
      close(file)
      throw SideFile.foreign(path, FileDoorbell.name)
    }
    let number = cs_reserve(file, 1)
    guard number == 0 else {
      close(file)
      throw .system(number, doing: "make room in the bell file", path: path)
    }
    descriptor = file
  }

  private static let name = "bell file"

  /// A bell is one zero byte, or empty if new. So ringing changes nothing, even in a foreign file.
  static func isOurs(_ file: Int32, _ path: String) -> Bool {
    SideFile.passes(file, 1) { bytes, length in
      length == 0 ? SideFile.isNew(file, path: path, suffix: ".bell") : length == 1 && bytes == [0]
    }
  }

  deinit {
    // Listeners keep their bell, so none is left. In a forked child the state may be one that a thread of the parent was changing.
    if !mark.isStale { state.withLock { hide(&$0) } }
    if descriptor >= 0 { close(descriptor) }
  }

  // MARK: ringing

  public func ring() {
    guard descriptor >= 0, !mark.isStale else { return }
    var byte: UInt8 = 0
    // A failed write loses the ring; listeners find the version within a second.
    _ = pwrite(descriptor, &byte, 1, 0)
  }

  public func ringForCommit() {
    guard descriptor >= 0, !mark.isStale else { return }
    let questions = state.withLock { Array($0.listeners.values) }
    if questions.contains(where: { isTold in !isTold() }) || isHeardElsewhere { ring() }
  }

  /// Whether somebody listens through another open file, in this process or another. True if the system does not say.
  private var isHeardElsewhere: Bool {
    cs_is_locked_by_others(descriptor, FileDoorbell.presencePlace, 1) != 0
  }

  // MARK: listening

  public func listen(
    unless isTold: @escaping @Sendable () -> Bool, version: @escaping @Sendable () -> Version?, _ body: @escaping @Sendable () -> Void
  ) -> any CommitListener {
    let id = state.withLock { state in
      state.nextID += 1
      state.listeners[state.nextID] = isTold
      return state.nextID
    }
    // The version is compared once more when the bell is watched and the lock is there: whoever commits after that rings.
    let listener = BellWatch.current.listen(
      path: path,
      version: { [weak self] in
        self?.showPresence()
        return version()
      }, body)
    // Keeps the bell: without its lock nobody would ring for the listener.
    return Listening(listener) { [self] in forget(id) }
  }

  private static let presencePlace: Int64 = 1

  /// Takes the lock, if somebody listens and it is not there yet. A bell that is missing or cannot be locked is tried again once a second.
  private func showPresence() {
    if isPresent.load(ordering: .acquiring) || mark.isStale { return }
    state.withLock { state in
      guard !state.listeners.isEmpty, state.presence < 0 else { return }
      guard let file = descriptor >= 0 ? descriptor : try? SideFile.open(path, FileDoorbell.name, writes: false, creates: false)
      else { return }
      guard cs_lock_shared(file, FileDoorbell.presencePlace, 1) == 0 else {
        if file != descriptor { close(file) }
        return
      }
      state.presence = file
      isPresent.store(true, ordering: .releasing)
    }
  }

  private func forget(_ id: UInt64) {
    // The open file of a forked child is its parent's.
    if mark.isStale { return }
    // Released without the lock: what the question keeps may end with it.
    _ = state.withLock { state in
      let question = state.listeners.removeValue(forKey: id)
      if state.listeners.isEmpty { hide(&state) }
      return question
    }
  }

  /// Gives the lock back. Not by closing the file alone: a child that is about to begin another program has a copy.
  private func hide(_ state: inout State) {
    guard state.presence >= 0 else { return }
    _ = cs_unlock(state.presence, FileDoorbell.presencePlace, 1)
    if state.presence != descriptor { close(state.presence) }
    state.presence = -1
    isPresent.store(false, ordering: .releasing)
  }

  /// A listener, and what is done when it ends.
  private final class Listening: CommitListener {
    private let listener: any CommitListener
    private let end: Mutex<(@Sendable () -> Void)?>

    init(_ listener: any CommitListener, _ end: @escaping @Sendable () -> Void) {
      self.listener = listener
      self.end = Mutex(end)
    }

    func stop() {
      listener.stop()
      leave()
    }

    private func leave() {
      let end = end.withLock { end in
        defer { end = nil }
        return end
      }
      end?()
    }

    // Waits for nobody: who drops a listener may hold what its body waits for.
    deinit { leave() }
  }
}
