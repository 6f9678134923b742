import ChangeTracker

/// The state with which a store writes: the open write with the hooks for its end, and the writes that wait for the right to begin.
/// Confined like its store, which owns it.
struct StoreWriter {
  /// Whether the store can write.
  enum Phase {
    case idle
    case open(RecordedTransaction)
    /// Inside `readOnly`: no writing and no moving to a newer version. Has the write that was open when it began.
    case readOnly(RecordedTransaction?)
  }

  var phase = Phase.idle
  /// Where the open write, or the last one, began.
  private(set) var place: any CustomStringConvertible & Sendable = "nowhere"
  /// Increases with each write, to distinguish what was made for one from what was made for another.
  private(set) var writeNumber: UInt64 = 0
  /// The rejected edits of the open write.
  var edits = RefusedEdits()
  /// The hooks for the end of the write.
  var hooks = WriteHooks()

  /// Writes that wait for the right to begin, to run on this store's context, in order.
  var pendingWrites: [PendingWrite] = []
  /// The fetch of the right by the worker on their behalf, until this store has its turn.
  var fetch: WriterQueue.Waiter?
  /// The request whose write this store runs on the worker.
  var request: AsyncWrite?

  /// The open write, if it can be written to.
  var open: RecordedTransaction? { if case .open(let write) = phase { write } else { nil } }

  /// The open write, also if it can only be read.
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

  /// Ends the write: clears its rejected edits and returns the hooks to run.
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
