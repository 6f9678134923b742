import SyncModel
import SyncProtocol

/// What a client has said of a store and is still to be dealt with, in its order: whole transactions, what it has seen, and marks; and
/// behind that the transaction whose rest has not come.
///
/// **Cost.** Every step is put in and taken out once: O(1) each on average, however many wait.
struct UploadLine: Sendable {
  enum Step: Sendable {
    case upload(Upload, refusalSeen: Seq, bytes: Int)
    case acknowledge(Acknowledgement)
    case mark(UInt64)
  }

  /// What is dealt with together.
  enum Batch: Sendable {
    case mark(UInt64)
    case commit([Upload], refusalSeen: Seq, bytes: Int)
    case acknowledge(Acknowledgement)
  }

  /// The least that a step counts for, whatever its bytes: about what it takes in memory.
  static let leastBytes = 128

  /// Those that can be done, from `first` on.
  private var ready: [Step?] = []
  private var first = 0
  /// A transaction that is not whole.
  private var open: [Step] = []
  /// Bytes of uploads that wait, each counted for `leastBytes` at least.
  private(set) var bytes = 0
  /// How many marks wait.
  private(set) var marks = 0

  /// How often a step was put in place or looked at; for tests.
  private(set) var work = 0

  /// Whether a transaction is not whole yet.
  var isOpen: Bool { !open.isEmpty }

  mutating func append(_ upload: Upload, refusalSeen: Seq, bytes size: Int) {
    bytes += max(size, UploadLine.leastBytes)
    open.append(.upload(upload, refusalSeen: refusalSeen, bytes: size))
    work += 1
    if upload.isContinued { return }
    work += open.count
    ready.append(contentsOf: open)
    open = []
  }

  /// What a client has seen. One that waits is taken over by the next: it has seen that too. Only while no transaction is open.
  mutating func append(_ state: Acknowledgement) {
    if case .acknowledge? = ready.last { ready.removeLast() }
    ready.append(.acknowledge(state))
  }

  /// Behind all that is whole, as the rest of a transaction may come much later.
  mutating func append(mark: UInt64) {
    marks += 1
    ready.append(.mark(mark))
  }

  /// Takes what is next: as many uploads as were said in the same breath, whole transactions only. nil where nothing is whole.
  mutating func next() -> Batch? {
    guard let step = take() else { return nil }
    switch step {
    case .mark(let number): return .mark(number)
    case .acknowledge(let state): return .acknowledge(state)
    case .upload(let upload, let seen, let size):
      var (uploads, total) = ([upload], size)
      while first < ready.count, case .upload(let next, seen, let size)? = ready[first] {
        _ = take()
        uploads.append(next)
        total += size
      }
      return .commit(uploads, refusalSeen: seen, bytes: total)
    }
  }

  private mutating func take() -> Step? {
    guard first < ready.count, let step = ready[first] else { return nil }
    // So that what was taken is not kept.
    ready[first] = nil
    first += 1
    work += 1
    if first == ready.count || first > 64 && first * 2 > ready.count {
      work += ready.count
      ready.removeFirst(first)
      first = 0
    }
    switch step {
    case .upload(_, _, let size): bytes -= max(size, UploadLine.leastBytes)
    case .mark: marks -= 1
    case .acknowledge: break
    }
    return step
  }
}
