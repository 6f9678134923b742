import SyncProtocol

/// The progress of uploads or downloads.
public struct SyncProgress: Hashable, Sendable {
  /// The direction of a transfer.
  public enum Direction: Hashable, Sendable {
    /// Own writes, until the server has them.
    case upload
    /// The writes of others, until they are in the file.
    case download
  }

  /// The scope of a progress stream.
  public enum Scope: Hashable, Sendable {
    /// Only what is outstanding now; the stream ends when that is done.
    case outstanding
    /// Everything, for as long as the replicator lives.
    case everything
  }

  /// Bytes of changes transferred since the stream began, inflated.
  public var transferred: Int
  /// Bytes transferred and still to transfer, as far as known: a server's figure is an estimate, and while it sends all objects there is
  /// none.
  public var transferable: Int

  /// Creates a progress value.
  public init(transferred: Int, transferable: Int) { (self.transferred, self.transferable) = (transferred, transferable) }

  /// Whether nothing is known to be left.
  public var isDone: Bool { transferred >= transferable }
}

/// The observers of progress, and the progress of transfers. Confined to its replicator.
struct Transfers {
  private struct Observer {
    let direction: SyncProgress.Direction
    let scope: SyncProgress.Scope
    /// For an upload, the last changeset that counts. For a download, the mark that ends it.
    let end: UInt64
    let continuation: AsyncStream<SyncProgress>.Continuation
    /// The bytes already transferred at the start, or for `.outstanding` uploads those to transfer.
    let start: Int
    var told: SyncProgress
  }

  private var observers: [UInt64: Observer] = [:]
  /// The last changeset counted, the pending bytes at that time, and the bytes sent.
  private var counted: UInt64 = 0
  private var waiting = 0
  private var sent = 0
  private var received = 0
  private var left = 0

  var watchesUploads: Bool { observers.values.contains { $0.direction == .upload } }

  // MARK: observers

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

  // MARK: uploads

  /// The parts of the outbox that must be counted.
  var questions: (after: UInt64, ends: [UInt64: UInt64]) {
    var ends: [UInt64: UInt64] = [:]
    for (number, observer) in observers where observer.direction == .upload && observer.scope == .outstanding {
      ends[number] = observer.end
    }
    return (counted, ends)
  }

  /// Begins counting, with the bytes already pending.
  mutating func begin(waiting: Int, last: UInt64) { if !watchesUploads { (self.waiting, counted) = (waiting, last) } }

  /// Updates from the present outbox: all bytes, the new ones, and those up to each observer's end.
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

  // MARK: downloads

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
      // What is left is the server's word.
      let (all, isOver) = done.addingReportingOverflow(left)
      tell(number, SyncProgress(transferred: done, transferable: isOver ? .max : all))
    }
  }

  /// Everything that the server had when the mark was sent is in the file.
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
