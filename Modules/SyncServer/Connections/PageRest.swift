import SyncModel
import SyncProtocol

/// What is left to be sent of a page of entries. They become messages one by one, as the client takes them: until then all sessions to
/// which a change goes share its bytes.
struct PageRest: Sendable {
  let page: LogPage
  /// The bytes of the messages made of it.
  var bytes = 0
  private var sent = 0
  /// A page never splits a transaction, which may be larger than a message: it then goes in several, which the client joins. Without one
  /// a page is no larger than a message.
  private let isDivided: Bool

  init(_ page: LogPage) {
    self.page = page
    isDivided = page.entries.contains(where: \.isContinued)
  }

  var isOver: Bool { sent == page.entries.count }

  /// The entries of the next message: about so many bytes, and at least one entry.
  mutating func next(limitBytes: Int) -> [LogEntry] {
    let all = page.entries
    guard isDivided else {
      sent = all.count
      return all
    }
    let start = sent
    var bytes = 0
    while sent < all.count {
      bytes += all[sent].encodedCount
      if sent > start, bytes > limitBytes { break }
      sent += 1
    }
    return Array(all[start..<sent])
  }
}

extension LogEntry {
  /// Whether the next entry belongs to the same transaction.
  fileprivate var isContinued: Bool { if case .changeset(_, let changeset) = body { changeset.isContinued } else { false } }

  /// The approximate size in bytes.
  fileprivate var encodedCount: Int { if case .changeset(_, let changeset) = body { 32 + changeset.encoded().count } else { 64 } }
}
