import SyncModel
import SyncProtocol
import Synchronization

/// What a server has done since it began. **Threads.** Any may read and count.
public final class ServerCounts: Sendable {
  /// The numbers of one moment. They only go up.
  public struct Numbers: Hashable, Sendable {
    /// Connections that were taken.
    public var connections: UInt64 = 0
    /// Changesets that became entries of a log.
    public var accepted: UInt64 = 0
    /// What was refused, by the code that the other side was told: log-ins, bindings, uploads.
    public var refusals: [SyncErrorCode: UInt64] = [:]
    /// Parts of messages that came.
    public var partsIn: UInt64 = 0
    /// Their bytes.
    public var bytesIn: UInt64 = 0
    /// Parts of messages that went.
    public var partsOut: UInt64 = 0
    /// Their bytes.
    public var bytesOut: UInt64 = 0
  }

  private let state = Mutex(Numbers())

  init() {}

  /// What they are now.
  public var numbers: Numbers { state.withLock { $0 } }

  func count(_ body: (inout Numbers) -> Void) { state.withLock { body(&$0) } }

  func refused(_ code: SyncErrorCode) { count { $0.refusals[code, default: 0] += 1 } }

  /// What is to be counted of an event of a connection.
  func note(_ event: ServerConnectionEvent) {
    switch event {
    case .received(let part):
      count { numbers in
        numbers.partsIn += 1
        numbers.bytesIn += UInt64(part.count)
      }
    case .verified(.failure(let refusal)), .bound(_, .failure(let refusal)), .expel(let refusal): refused(refusal.code)
    case .committed(_, .failure(let error)): refused(error.syncCode)
    case .committed(_, .success(let outcomes)):
      for outcome in outcomes {
        switch outcome {
        case .accepted: count { $0.accepted += 1 }
        case .refused(_, let code): refused(code)
        case .skewed: refused(.clockSkew)
        case .duplicate, .behindRefusal, .gap, .incomplete: break
        }
      }
    default: break
    }
  }

  func sent(_ parts: [[UInt8]]) {
    count { numbers in
      numbers.partsOut += UInt64(parts.count)
      for part in parts { numbers.bytesOut += UInt64(part.count) }
    }
  }
}

/// A store on a connection, for lists of what goes on.
public struct SessionSummary: Hashable, Sendable, Codable {
  /// Who.
  public var user: String
  /// Where.
  public var path: String
  /// Bytes of uploads that wait to be judged, of the whole connection.
  public var backlog: Int
}
