import SyncProtocol

/// How far what is to be sent or fetched has come.
public struct SyncProgress: Hashable, Sendable {
  /// Which way.
  public enum Direction: Hashable, Sendable {
    /// What was written here, until the server has it.
    case upload
    /// What others wrote, until it is here.
    case download
  }

  /// For how long it is told.
  public enum Scope: Hashable, Sendable {
    /// Of what there is to do now: what comes later does not count, and it ends when that is done.
    case outstanding
    /// Of all there is to do, for as long as the replicator lives.
    case everything
  }

  /// Bytes of changes that are done since it was asked for, unpacked.
  public var transferred: Int
  /// Bytes that are done and to be done, as far as is known: a server estimates what it has, and while it sends all objects nobody knows.
  public var transferable: Int

  /// Of its parts.
  public init(transferred: Int, transferable: Int) { (self.transferred, self.transferable) = (transferred, transferable) }

  /// Whether nothing is left that is known of.
  public var isDone: Bool { transferred >= transferable }
}

/// Who wants to know how far transfers are, and how far they are. Confined to its replicator.
struct Transfers {
  private struct Observer {
    let direction: SyncProgress.Direction
    let scope: SyncProgress.Scope
    /// Of an upload: the last changeset that counts. Of a download: the mark that ends it.
    let end: UInt64
    let continuation: AsyncStream<SyncProgress>.Continuation
    /// What had been done when it was asked for, or what there was to do.
    let start: Int
    var told: SyncProgress
  }

  private var observers: [UInt64: Observer] = [:]
  /// The last changeset that was counted, bytes that waited then, and bytes that were done.
  private var counted: UInt64 = 0
  private var waiting = 0
  private var sent = 0
  private var received = 0
  private var left = 0

  var watchesUploads: Bool { observers.values.contains { $0.direction == .upload } }

  // MARK: who wants to know

  mutating func observe(
    _ number: UInt64, _ direction: SyncProgress.Direction, _ scope: SyncProgress.Scope, end: UInt64, outstanding: Int,
    _ continuation: AsyncStream<SyncProgress>.Continuation
  ) {
    let isUpload = direction == .upload
    let first = SyncProgress(transferred: 0, transferable: isUpload ? outstanding : left)
    let start = !isUpload ? received : scope == .outstanding ? outstanding : sent
    let observer = Observer(direction: direction, scope: scope, end: end, continuation: continuation, start: start, told: first)
    continuation.yield(first)
    if isUpload, scope == .outstanding, outstanding == 0 { return continuation.finish() }
    observers[number] = observer
  }

  mutating func forget(_ number: UInt64) { observers[number] = nil }

  mutating func finish() {
    for observer in observers.values { observer.continuation.finish() }
    observers = [:]
  }

  // MARK: up

  /// Which parts of the outbox have to be counted.
  var questions: (after: UInt64, ends: [UInt64: UInt64]) {
    var ends: [UInt64: UInt64] = [:]
    for (number, observer) in observers where observer.direction == .upload && observer.scope == .outstanding {
      ends[number] = observer.end
    }
    return (counted, ends)
  }

  /// Begins to count, with what waits already.
  mutating func begin(waiting: Int, last: UInt64) { if !watchesUploads { (self.waiting, counted) = (waiting, last) } }

  /// The outbox as it is now: bytes of all, of what is new, and up to each observer's end.
  mutating func count(all: Int, new: Int, upTo ends: [UInt64: Int], last: UInt64) {
    sent += max(0, waiting + new - all)
    (waiting, counted) = (all, max(counted, last))
    for (number, observer) in observers where observer.direction == .upload {
      if observer.scope == .everything {
        let done = sent - observer.start
        tell(number, SyncProgress(transferred: done, transferable: done + all))
      } else if let left = ends[number] {
        tell(number, SyncProgress(transferred: max(0, observer.start - left), transferable: observer.start), isLast: left == 0)
      }
    }
  }

  // MARK: down

  mutating func received(_ message: ServerMessage, _ bytes: Int) {
    switch message {
    case .changes, .state:
      received += bytes
      left = max(0, left - bytes)
    case .progress(_, _, let more): left = Int(clamping: more)
    case .bound, .marked: left = 0
    default: return
    }
    for (number, observer) in observers where observer.direction == .download {
      let done = received - observer.start
      tell(number, SyncProgress(transferred: done, transferable: done + left))
    }
  }

  /// Everything that there was when the mark was made is in the file.
  mutating func reached(_ mark: UInt64) {
    guard let observer = observers[mark], observer.direction == .download else { return }
    let done = received - observer.start
    tell(mark, SyncProgress(transferred: done, transferable: done), isLast: true)
  }

  private mutating func tell(_ number: UInt64, _ progress: SyncProgress, isLast: Bool = false) {
    guard let observer = observers[number] else { return }
    if progress != observer.told || isLast { observer.continuation.yield(progress) }
    observers[number]?.told = progress
    guard isLast else { return }
    observer.continuation.finish()
    observers[number] = nil
  }
}
