import SyncServer
import Synchronization

/// What the handlers of a `ServerEvents` have done in this process, by their names. The numbers only increase.
public struct ServerEventCounts: Hashable, Sendable {
  /// The numbers of one handler, over all stores.
  public struct Numbers: Hashable, Sendable {
    /// Events that were handled, for which the server has confirmed that.
    public var handled: UInt64 = 0
    /// Times that the handler threw, or its writes were refused.
    public var failed: UInt64 = 0
    /// Events that were passed over because they had failed as often as they may (`ServerEvents.Options.attemptsMax`).
    public var gaveUp: UInt64 = 0
    /// Entries of logs that were gone before the handler came to them (`ServerEventNotice.missed`).
    public var missed: UInt64 = 0
  }

  /// The numbers of each handler that was added.
  public internal(set) var handlers: [String: Numbers] = [:]

  /// The numbers in Prometheus' text format, for a `/metrics` of the process that runs the handlers.
  public var metrics: String {
    func values(_ number: KeyPath<Numbers, UInt64>) -> [(labels: String, value: UInt64)] {
      handlers.sorted { $0.key < $1.key }.map { ("handler=\"\($0.key)\"", $0.value[keyPath: number]) }
    }
    var text = MetricsText()
    text.add("vivarium_handler_events_total", .counter, "Events that a handler has handled.", values(\.handled))
    text.add("vivarium_handler_failures_total", .counter, "Times that a handler has failed.", values(\.failed))
    text.add("vivarium_handler_given_up_total", .counter, "Events that were passed over after their last attempt.", values(\.gaveUp))
    text.add(
      "vivarium_handler_missed_entries_total", .counter, "Entries of logs that were gone before a handler came to them.",
      values(\.missed))
    return text.text
  }
}

/// Counts what handlers do. Any thread.
final class EventCounter: Sendable {
  private let state = Mutex(ServerEventCounts())

  var counts: ServerEventCounts { state.withLock { $0 } }

  /// Counts for a handler; without a change it is listed with zeros.
  func count(_ handler: String, _ change: (inout ServerEventCounts.Numbers) -> Void = { _ in }) {
    state.withLock { change(&$0.handlers[handler, default: ServerEventCounts.Numbers()]) }
  }
}
