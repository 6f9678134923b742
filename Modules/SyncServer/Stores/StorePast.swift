import SyncModel
import SyncProtocol

/// How a store was, for a handler of events that has processed some of its log, wherever its head is.
public struct StorePast: Hashable, Sendable {
  /// The entry as of which the states are: the one that was asked for, or an earlier one. Entries behind it come in as they do for anyone.
  public var asOf: Seq
  /// Of all objects that a later entry touched, or whose epoch a later purge has forgotten; nil for one that did not exist.
  public var states: [ObjectIdentity: ObjectState?]

  /// Of some objects what they were.
  public init(asOf seq: Seq, states: [ObjectIdentity: ObjectState?]) { (asOf, self.states) = (seq, states) }
}
