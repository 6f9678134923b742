import SyncModel
import SyncProtocol

/// Entries of a log that belong together: the changesets of one transaction, or a single entry of another kind.
struct LogTransaction: Sendable {
  let entries: [LogEntry]

  /// The number of the last entry.
  var last: Seq { entries.last?.seq ?? .zero }

  /// The user and replica that wrote it; nil if it is not a changeset of another replica.
  var author: (user: String, replica: ReplicaID)? {
    guard case .changeset(let user, let changeset)? = entries.first?.body else { return nil }
    return (user, changeset.author)
  }

  /// The transactions of a page, which never splits one.
  static func all(of entries: [LogEntry]) -> [LogTransaction] {
    var (all, open): ([LogTransaction], [LogEntry]) = ([], [])
    for entry in entries {
      open.append(entry)
      if case .changeset(_, let changeset) = entry.body, changeset.isContinued { continue }
      all.append(LogTransaction(entries: open))
      open = []
    }
    if !open.isEmpty { all.append(LogTransaction(entries: open)) }
    return all
  }
}
