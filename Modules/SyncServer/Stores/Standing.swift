import SyncModel
import SyncProtocol

/// What a store knows of a replica that binds.
public struct Standing: Hashable, Sendable {
  /// The last upload that was judged; 0 for none.
  public var judged: UInt64
  /// The first stamp of that upload: a replica that remembers another one was copied or restored. `.zero` for none.
  public var judgedStamp: Stamp
  /// The last refusal of the replica.
  public var refusal: Seq
  /// Which of its uploads were refused after the last refusal that it has seen.
  public var refused: [UInt64]
  /// 16 bytes that name the history; others after a back-up was restored.
  public var history: [UInt8]
  /// The last entry of the log.
  public var head: Seq
  /// The entries after this one are there.
  public var logStart: Seq
  /// Up to here things may have been forgotten.
  public var stable: Seq
  /// The base of its oldest changeset that waited, as the replica has acknowledged it last: what came before may have been forgotten.
  public var pendingBase: Seq

  /// A standing of its parts.
  public init(
    judged: UInt64, judgedStamp: Stamp, refusal: Seq, refused: [UInt64], history: [UInt8], head: Seq, logStart: Seq, stable: Seq,
    pendingBase: Seq
  ) {
    (self.judged, self.judgedStamp, self.refusal, self.refused) = (judged, judgedStamp, refusal, refused)
    (self.history, self.head, self.logStart, self.stable) = (history, head, logStart, stable)
    self.pendingBase = pendingBase
  }

  /// How a replica gets to the head from its cursor, by the history it knows; none for a new one, and for one that begins anew: whatever
  /// it has, all objects take its place.
  ///
  /// - Parameter base: of its oldest changeset that waits, or its cursor.
  public func mode(cursor: Seq, history: [UInt8], pendingBase base: Seq) -> Bound.Mode {
    if history.isEmpty { return cursor == .zero ? .snapshot : .reset }
    if history != self.history || cursor > head { return .reset }
    // It has said that it was further: its file was restored, and what waits there may name what everybody has forgotten.
    if base < pendingBase { return .reset }
    if cursor >= logStart { return .resume }
    // What was forgotten up to `stable` is in no object any more, and so it cannot be told by the difference. Nor can how objects are
    // without the replica's own refused changes, which nobody else may have touched.
    return cursor >= stable && refused.isEmpty ? .delta : .snapshot
  }
}

/// Entries of a log.
public struct LogPage: Hashable, Sendable {
  /// Those that concern the replica, in order. A transaction is never cut.
  public var entries: [LogEntry]
  /// Up to here the replica has been shown everything, also where nothing concerned it.
  public var cursor: Seq
  /// The last entry of the log.
  public var head: Seq

  /// A page of its parts.
  public init(entries: [LogEntry], cursor: Seq, head: Seq) {
    (self.entries, self.cursor, self.head) = (entries, cursor, head)
  }
}

/// The right of one process to work for a handler of a store's events.
public struct HandlerLease: Hashable, Sendable {
  /// Of the handler.
  public var handler: String
  /// Up to here its events were dealt with.
  public var cursor: Seq
  /// Higher for each holder: who has a lower one has lost it.
  public var fence: UInt64

  /// A lease of its parts.
  public init(handler: String, cursor: Seq, fence: UInt64) { (self.handler, self.cursor, self.fence) = (handler, cursor, fence) }
}
