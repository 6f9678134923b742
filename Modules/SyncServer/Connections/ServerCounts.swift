import SyncModel
import SyncProtocol
import Synchronization

/// Counts what a server has done since it began. **Threads.** Any thread may read and count.
public final class ServerCounts: Sendable {
  /// The counts at one moment. They only increase.
  public struct Numbers: Hashable, Sendable {
    /// Accepted connections.
    public var connections: UInt64 = 0
    /// Changesets that became entries of a log.
    public var accepted: UInt64 = 0
    /// Refusals of log-ins, binds, uploads and reads, by the code sent to the other side.
    public var refusals: [SyncErrorCode: UInt64] = [:]
    /// Received parts of messages.
    public var partsIn: UInt64 = 0
    /// The bytes of received parts.
    public var bytesIn: UInt64 = 0
    /// Sent parts of messages.
    public var partsOut: UInt64 = 0
    /// The bytes of sent parts.
    public var bytesOut: UInt64 = 0
  }

  private let state = Mutex(Numbers())

  init() {}

  /// The present counts.
  public var numbers: Numbers { state.withLock { $0 } }

  func count(_ body: (inout Numbers) -> Void) { state.withLock { body(&$0) } }

  func refused(_ code: SyncErrorCode) { count { $0.refusals[code, default: 0] += 1 } }

  /// Counts an event of a connection.
  func note(_ event: ServerConnectionEvent) {
    switch event {
    case .received(let part): received(part)
    case .verified(.failure(let refusal)), .bound(_, .failure(let refusal)), .expel(let refusal): refused(refusal.code)
    case .committed(_, .failure(let error)), .declared(_, .failure(let error)), .entries(_, .failure(let error)),
      .objects(_, .failure(let error)), .acknowledged(_, .failure(let error)), .head(_, _, .failure(let error)):
      refused(SyncRefusal(reading: error).code)
    case .committed(_, .success(let outcomes)): note(outcomes)
    case .committedInPart(_, let outcomes, let error):
      note(outcomes)
      refused(SyncRefusal(error).code)
    default: break
    }
  }

  private func note(_ outcomes: [UploadOutcome]) {
    for outcome in outcomes {
      switch outcome {
      case .accepted: count { $0.accepted += 1 }
      case .refused(_, let code): refused(code)
      case .skewed: refused(.clockSkew)
      case .forked: refused(.replicaForked)
      case .duplicate, .behindRefusal, .gap, .incomplete: break
      }
    }
  }

  func received(_ part: [UInt8]) {
    count { numbers in
      numbers.partsIn += 1
      numbers.bytesIn += UInt64(part.count)
    }
  }

  func sent(_ parts: [[UInt8]]) {
    count { numbers in
      numbers.partsOut += UInt64(parts.count)
      for part in parts { numbers.bytesOut += UInt64(part.count) }
    }
  }
}

/// A bound store of a connection, for lists.
public struct SessionSummary: Hashable, Sendable, Codable {
  /// The user.
  public var user: String
  /// The store's path.
  public var path: String
  /// The bytes of uploads that wait to be judged, over the whole connection.
  public var backlog: Int
}
