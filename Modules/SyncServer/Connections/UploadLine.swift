import SyncModel
import SyncProtocol

/// A session's queue of messages to handle, in order: complete transactions, acknowledgements and marks; then the transaction that is not
/// complete yet.
///
/// **Cost.** Every step is appended and removed once: O(1) each on average, however many wait.
struct UploadLine: Sendable {
  enum Step: Sendable {
    case upload(Upload, refusalSeen: Seq, bytes: Int)
    case acknowledge(Acknowledgement)
    case mark(UInt64)
    case declare(SyncSchema, bytes: Int)
  }

  /// Steps that are handled together.
  enum Batch: Sendable {
    case mark(UInt64)
    case commit([Upload], refusalSeen: Seq, bytes: Int)
    case acknowledge(Acknowledgement)
    case declare(SyncSchema)
  }

  /// The least number of bytes that a step counts for: about what it takes in memory.
  static let leastBytes = 128

  /// The steps that can be handled, from index `first` on.
  private var ready: [Step?] = []
  private var first = 0
  /// The incomplete transaction.
  private var open: [Step] = []
  /// The bytes of waiting uploads, each counted with at least `leastBytes`.
  private(set) var bytes = 0
  /// The numbers of waiting marks, and of declarations.
  private(set) var marks = 0
  private(set) var declarations = 0

  /// How often a step was stored or looked at; for tests.
  private(set) var work = 0

  /// The number of steps that can be handled.
  var count: Int { ready.count - first }

  /// The uploads that can be judged, in order. O(those).
  var uploads: [Upload] { uploads(from: 0) }

  /// Whether there is a transaction that only takes away, from a step on with which one begins. O(steps from there).
  func takesAway(from step: Int) -> Bool { StoreDemand.all(of: uploads(from: step), mayWrite: true).contains { !$0.adds } }

  private func uploads(from step: Int) -> [Upload] {
    ready[min(first + step, ready.count)...].compactMap { if case .upload(let upload, _, _)? = $0 { upload } else { nil } }
  }

  /// Whether a transaction is incomplete.
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

  /// Appends an acknowledgement. It replaces a waiting one, which it includes. Only while no transaction is incomplete.
  mutating func append(_ state: Acknowledgement) {
    if case .acknowledge? = ready.last { ready.removeLast() }
    ready.append(.acknowledge(state))
  }

  /// Appends a declaration of types, which holds for the uploads after it. Only while no transaction is incomplete.
  mutating func append(_ schema: SyncSchema, bytes size: Int) {
    bytes += max(size, UploadLine.leastBytes)
    declarations += 1
    ready.append(.declare(schema, bytes: size))
  }

  /// Appends a mark after all complete transactions, as the rest of an incomplete one may come much later.
  mutating func append(mark: UInt64) {
    marks += 1
    ready.append(.mark(mark))
  }

  /// Removes the next steps: consecutive uploads with the same acknowledgement go together, whole transactions only. nil if nothing is
  /// complete.
  mutating func next() -> Batch? {
    guard let step = take() else { return nil }
    switch step {
    case .mark(let number): return .mark(number)
    case .acknowledge(let state): return .acknowledge(state)
    case .declare(let schema, _): return .declare(schema)
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
    // Releases the step.
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
    case .declare(_, let size):
      bytes -= max(size, UploadLine.leastBytes)
      declarations -= 1
    case .acknowledge: break
    }
    return step
  }
}
