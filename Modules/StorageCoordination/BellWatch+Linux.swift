#if os(Linux) || os(Android)
import CVivariumSystem
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif
import StorageInterface
import StoreValues
import Synchronization

/// The single thread of the process that waits for the bells of all stores, with one inotify instance.
///
/// The thread starts with the first listener and sleeps until a bell rings; while there are listeners it also wakes once a
/// second and compares versions. If inotify is unavailable (its instances are limited per user), only that check remains; a bell
/// that cannot be watched, because it is missing or the user has too many watches, is tried again with each.
final class BellWatch: Sendable {
  private struct State {
    /// By inotify watch; −1: bells that cannot be watched.
    var listeners: [Int32: [WeakBellListener]] = [:]
    /// The bells and their watches, by listener.
    var places: [UInt64: (path: String, watch: Int32)] = [:]
    var nextID: UInt64 = 0
    var isRunning = false
  }

  private static let shared = Mutex<BellWatch?>(nil)
  private static let tickMilliseconds: Int64 = 1000

  private let mark = ForkMark()
  private let inotify: Int32
  /// Written to make the thread check everything again.
  private let nudge: Int32
  private let state = Mutex(State())

  private init() {
    inotify = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    nudge = cs_event()
  }

  /// This process's watch; a forked child gets its own.
  static var current: BellWatch {
    shared.withLock { shared in
      if let watch = shared, !watch.mark.isStale { return watch }
      let watch = BellWatch()
      shared = watch
      return watch
    }
  }

  func listen(
    path: String, version: @escaping @Sendable () -> Version?, _ body: @escaping @Sendable () -> Void
  ) -> any CommitListener {
    // Watch first, then compare: a commit in between rings.
    let (id, isFirst) = state.withLock { state in
      state.nextID += 1
      let watch = watch(path)
      state.places[state.nextID] = (path, watch)
      state.listeners[watch, default: []].append(WeakBellListener(listener: nil, id: state.nextID))
      defer { state.isRunning = true }
      return (state.nextID, !state.isRunning)
    }
    let listener = BellListener(version: version, body: body) { [weak self] in self?.remove(id) }
    state.withLock { state in
      // The thread may have moved it.
      guard let (watch, at) = BellWatch.place(of: id, state) else { return }
      state.listeners[watch]?[at] = WeakBellListener(listener: listener, id: id)
    }
    if isFirst { start() }
    wakeThread()
    return listener
  }

  private func watch(_ path: String) -> Int32 {
    inotify < 0 ? -1 : inotify_add_watch(inotify, path, UInt32(IN_MODIFY) | UInt32(IN_DONT_FOLLOW))
  }

  private static func place(of id: UInt64, _ state: State) -> (watch: Int32, at: Int)? {
    guard let watch = state.places[id]?.watch, let at = state.listeners[watch]?.firstIndex(where: { $0.id == id }) else { return nil }
    return (watch, at)
  }

  /// Watches the bells that could not be watched so far.
  private func watchMissing(_ state: inout State) {
    guard inotify >= 0, let missing = state.listeners.removeValue(forKey: -1) else { return }
    for listener in missing {
      guard let path = state.places[listener.id]?.path else { continue }
      let watch = watch(path)
      state.places[listener.id] = (path, watch)
      state.listeners[watch, default: []].append(listener)
    }
  }

  private func remove(_ id: UInt64) {
    if mark.isStale { return }
    state.withLock { state in
      let place = BellWatch.place(of: id, state)
      state.places[id] = nil
      guard let (watch, at) = place else { return }
      state.listeners[watch]?.remove(at: at)
      guard let left = state.listeners[watch], left.isEmpty else { return }
      state.listeners[watch] = nil
      if watch >= 0 { inotify_rm_watch(inotify, watch) }
    }
  }

  private func wakeThread() {
    var one: UInt64 = 1
    _ = write(nudge, &one, 8)
  }

  // MARK: The thread

  private func start() {
    var thread = pthread_t()
    let context = Unmanaged.passRetained(self).toOpaque()
    let number = pthread_create(&thread, nil, { context in
      guard let context else { return nil }
      Unmanaged<BellWatch>.fromOpaque(context).takeRetainedValue().run()
      return nil
    }, context)
    guard number == 0 else {
      // The thread could not be created: the next listener tries again.
      Unmanaged<BellWatch>.fromOpaque(context).release()
      state.withLock { $0.isRunning = false }
      return
    }
    pthread_detach(thread)
  }

  private func run() {
    var nextTick = BellWatch.now() + BellWatch.tickMilliseconds
    while true {
      let isListening = state.withLock { !$0.listeners.isEmpty }
      var files = [pollfd(fd: inotify, events: Int16(POLLIN), revents: 0), pollfd(fd: nudge, events: Int16(POLLIN), revents: 0)]
      poll(&files, 2, isListening ? Int32(max(0, nextTick - BellWatch.now())) : -1)
      var word: UInt64 = 0
      let isNudged = read(nudge, &word, 8) == 8
      let rung = rungWatches()
      let now = BellWatch.now()
      let isTick = now >= nextTick
      if isTick { nextTick = now + BellWatch.tickMilliseconds }
      let due = state.withLock { state in
        // Before they are compared: a commit in between rings.
        if isTick { watchMissing(&state) }
        // The nudge that follows covers a bell that rang while its listener was being added.
        return isTick || isNudged ? Array(state.listeners.values.joined()) : rung.flatMap { state.listeners[$0] ?? [] }
      }
      for entry in due { entry.listener?.check() }
    }
  }

  /// The watches of all pending events.
  private func rungWatches() -> Set<Int32> {
    guard inotify >= 0 else { return [] }
    return withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
      var result: Set<Int32> = []
      while let base = buffer.baseAddress, case let count = read(inotify, base, buffer.count), count > 0 {
        var offset = 0
        // An event is watch, mask, cookie, length of the name, four bytes each, then the name.
        while offset + 16 <= count {
          result.insert(buffer.load(fromByteOffset: offset, as: Int32.self))
          offset += 16 + Int(buffer.load(fromByteOffset: offset + 12, as: UInt32.self))
        }
      }
      return result
    }
  }

  private static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
  }
}
#endif
