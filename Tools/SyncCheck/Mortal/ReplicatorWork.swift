#if Sync
/// What a device's replicator does with its file, as the check tells it apart.
enum ReplicatorWork: String, CaseIterable {
  /// It reads what waits to be sent.
  case collect
  /// It integrates entries of the server's log.
  case integrate
  /// Among them are the device's own, which wait no more.
  case settle
  /// It takes what the file has from before it was replicated into the outbox.
  case adopt
  /// It takes objects in place of entries.
  case take
  /// It leaves the place in the log that the file had, because the server's is another one, or another file is the same replica.
  case beginAnew = "begin-anew"

  /// What every device does all the time.
  static let always: [ReplicatorWork] = [.collect, .integrate, .settle]

  /// What a device does when it comes to a server. The first one brings what the others take.
  static let onArrival: [ReplicatorWork] = [.adopt, .take, .beginAnew]

  /// The points of the work: with all written and nothing committed; in the middle of what it writes; within two milliseconds of the
  /// beginning of the commit; right after it. A work that only reads has no commit.
  var points: [String] {
    (self == .collect ? ["before", "amid", "after"] : ["before", "amid", "in", "after"]).map { "\($0)-\(rawValue)" }
  }
}
#endif
