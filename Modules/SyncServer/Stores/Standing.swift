import SyncModel
import SyncProtocol

/// What a store knows of a replica that binds.
public struct Standing: Hashable, Sendable {
  /// The last upload that was judged; 0 for none.
  public var judged: UInt64
  /// The first stamp of that upload; `.zero` for none. A replica that remembers another one was copied or restored.
  public var judgedStamp: Stamp
  /// The last refusal of the replica.
  public var refusal: Seq
  /// Its uploads that were refused after the last refusal that it has seen.
  public var refused: [UInt64]
  /// The 16 bytes that name the history; they change when a backup is restored.
  public var history: [UInt8]
  /// The last entry of the log.
  public var head: Seq
  /// The entries after this one exist.
  public var logStart: Seq
  /// The entry up to which a purge may have forgotten things.
  public var stable: Seq
  /// The base of its oldest pending changeset, as last acknowledged: a purge may have forgotten what came before.
  public var pendingBase: Seq

  /// Creates a standing.
  public init(
    judged: UInt64, judgedStamp: Stamp, refusal: Seq, refused: [UInt64], history: [UInt8], head: Seq, logStart: Seq, stable: Seq,
    pendingBase: Seq
  ) {
    (self.judged, self.judgedStamp, self.refusal, self.refused) = (judged, judgedStamp, refusal, refused)
    (self.history, self.head, self.logStart, self.stable) = (history, head, logStart, stable)
    self.pendingBase = pendingBase
  }

  /// How a replica gets from its cursor to the head. Its history is empty for a new replica, and for one that begins anew: all objects
  /// then replace what it has.
  ///
  /// - Parameter base: the base of its oldest pending changeset, or its cursor.
  public func mode(cursor: Seq, history: [UInt8], pendingBase base: Seq) -> Bound.Mode {
    if history.isEmpty { return cursor == .zero ? .snapshot : .reset }
    if history != self.history || cursor > head { return .reset }
    // The replica has acknowledged more: its file was restored, and its pending changes may name what all replicas have forgotten.
    if base < pendingBase { return .reset }
    if cursor >= logStart { return .resume }
    // What was purged up to `stable` is in no object any more, so a delta cannot convey it. Nor can a delta restore objects touched by
    // the replica's own refused changes, if nobody else has changed them.
    return cursor >= stable && refused.isEmpty ? .delta : .snapshot
  }

  /// How a replica that binds gets to the head.
  ///
  /// As `mode`, but for one that has integrated the log beyond a refusal which it has not seen: the entry does not come again, and until
  /// the replica has seen it, all that it uploads is ignored. It takes all objects, and learns of the refusal with them.
  func mode(of bind: Bind) -> Bound.Mode {
    var known = self
    if bind.history == history, bind.refusalSeen >= refusal { known.refused = [] }
    let mode = known.mode(cursor: bind.cursor, history: bind.history, pendingBase: bind.pendingBase)
    return mode == .resume && !known.refused.isEmpty && bind.cursor >= refusal ? .snapshot : mode
  }

  /// What a replica acknowledges by saying, as it binds, how far it is; nil if that is nothing new. So one whose last acknowledgement was
  /// lost need not wait for news to say it again, while nothing is purged. Nothing is believed of one that begins anew.
  func acknowledgement(in bind: Bind) -> Acknowledgement? {
    guard bind.history == history, mode(of: bind) != .reset else { return nil }
    guard bind.pendingBase > pendingBase || !refused.isEmpty && bind.refusalSeen >= refusal else { return nil }
    return Acknowledgement(cursor: bind.cursor, pendingBase: bind.pendingBase, refusalSeen: bind.refusalSeen)
  }

  /// Whether the rest of the pages that a replica has begun may follow, instead of all of them in a mode.
  ///
  /// - It is the same history, and nothing was purged since: no page may lack what another has.
  /// - Nothing of the replica was judged since: its outcome is in no page that it has, and the replica counts it as being in all of them.
  /// - The entries after the first page are there, and the replica has not acknowledged more, as one whose file was restored has.
  public func goesOn(_ begun: BegunPages, in mode: Bound.Mode) -> Bool {
    guard begun.mode == mode, begun.history == history, begun.stable == stable else { return false }
    guard begun.judged == judged, begun.refusal == refusal else { return false }
    return logStart <= begun.asOf && pendingBase <= begun.asOf && begun.asOf <= head
  }
}

/// A page of a log.
public struct LogPage: Hashable, Sendable {
  /// The entries that concern the replica, in order. A transaction is never split.
  public var entries: [LogEntry]
  /// The last entry that the page covers, including entries that do not concern the replica.
  public var cursor: Seq
  /// The last entry of the log.
  public var head: Seq
  /// The 16 bytes that name the log's history: another one than before means that the store was restored, or removed and made anew.
  public var history: [UInt8]

  /// Creates a page.
  public init(entries: [LogEntry], cursor: Seq, head: Seq, history: [UInt8]) {
    (self.entries, self.cursor, self.head, self.history) = (entries, cursor, head, history)
  }
}

/// The right of one process to run a handler of a store's events.
public struct HandlerLease: Hashable, Sendable {
  /// The name of the handler.
  public var handler: String
  /// The handler has processed the events up to this entry.
  public var cursor: Seq
  /// Increases with each holder: a holder with a lower one has lost the lease.
  public var fence: UInt64
  /// The 16 bytes that name the history of the store for which it was granted.
  public var history: [UInt8]
  /// Whether the claim has made the handler, or made it anew.
  public var isNew: Bool

  /// Creates a lease.
  public init(handler: String, cursor: Seq, fence: UInt64, history: [UInt8], isNew: Bool) {
    (self.handler, self.cursor, self.fence, self.history, self.isNew) = (handler, cursor, fence, history, isNew)
  }
}

/// How far a handler of a store's events is.
public struct HandlerStanding: Hashable, Sendable {
  /// The handler has processed the events up to this entry.
  public var cursor: Seq
  /// When its last lease ends or ended, in milliseconds since 1970: until then a process has it, and no other gets it. `.min` if there was
  /// none yet.
  public var leaseEnd: Int64

  /// Creates a standing.
  public init(cursor: Seq, leaseEnd: Int64) { (self.cursor, self.leaseEnd) = (cursor, leaseEnd) }
}
