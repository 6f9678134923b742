import ChangeTracker

/// What a store writes: the open write with what waits for its end, and the writes that wait for the right to begin. Confined like
/// its store, which owns it.
struct StoreWriter {
  /// Whether anything can be written.
  enum Phase {
    case idle
    case open(RecordedTransaction)
    /// Inside `readOnly`: nothing is written and nothing newer read. With the write that was open when it began.
    case readOnly(RecordedTransaction?)
  }

  var phase = Phase.idle
  /// Where the open write began, or the last one.
  private(set) var place: any CustomStringConvertible & Sendable = "nowhere"
  /// Grows with each write: what was made for one is told apart from what was made for another.
  private(set) var writeNumber: UInt64 = 0
  /// What was refused in the open write.
  var edits = RefusedEdits()
  /// What waits for it to end.
  var hooks = WriteHooks()

  /// Writes that wait for the right to begin on this store's context, in order.
  var pendingWrites: [PendingWrite] = []
  /// The right that the worker fetches on their behalf, until this store has its turn.
  var fetch: WriterQueue.Waiter?
  /// The request that this store runs a write for, on the worker.
  var request: AsyncWrite?

  /// The open write, where it can be written to.
  var open: RecordedTransaction? { if case .open(let write) = phase { write } else { nil } }

  /// The open write, also where it can only be read.
  var unfinished: RecordedTransaction? {
    switch phase {
    case .idle: nil
    case .open(let write): write
    case .readOnly(let write): write
    }
  }

  var isReadOnly: Bool { if case .readOnly = phase { true } else { false } }

  mutating func begin(_ write: RecordedTransaction, at place: any CustomStringConvertible & Sendable) {
    self.place = place
    phase = .open(write)
    writeNumber &+= 1
  }

  /// The write is to end: what was refused in it is over, and what waited for that is to be run.
  mutating func end() -> WriteHooks {
    phase = .idle
    edits = RefusedEdits()
    return hooks.take()
  }
}

extension Store {
  var writing: RecordedTransaction? { writer.open }
  var isReadOnly: Bool { writer.isReadOnly }
}
