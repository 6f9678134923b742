import ArgumentParser
import StorageInterface
import StoreInspection
import StoreValues
import SyncClient

extension InspectCommand {
  struct Sync: ParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "What waits to be sent to a server, since when and why, and how far the file is.")
    @OptionGroup var target: Target

    func run() throws {
      try target.inspector().books(orElse: "The store is not replicated.") { read throws(StorageError) in
        try ReplicaReport(read).map { $0.books }
      }
    }
  }
}

extension ReplicaReport {
  fileprivate var books: BooksReport {
    var facts = [
      ("replica", replica), ("server", history.map { "history \($0)" } ?? "it has not joined yet"),
      ("taken in", "up to entry \(cursor)"), ("written", "\(lastNumber) changes"),
      ("waiting", "\(waiting.count) changes, \(waiting.reduce(0) { $0 + $1.bytes }) bytes"), ("why", why),
    ]
    if refusalSeen > 0 { facts.append(("refused", "last at entry \(refusalSeen)")) }
    if clockOffset != 0 { facts.append(("clock", "the server's is \(clockOffset) ms ahead")) }
    return BooksReport(
      facts: facts.map { (name: $0.0, text: $0.1) }, title: "changes",
      header: ["number", "written", "state", "operations", "bytes", "objects"],
      rows: waiting.map { change in
        [
          "\(change.number)", ReplicaReport.time(change.written), change.isVoid ? "void" : "waits", "\(change.operations)",
          "\(change.bytes)", change.objects.joined(separator: ", "),
        ]
      })
  }

  /// Why something waits, as far as the file knows: whether a server is in reach only the process that replicates it does.
  private var why: String {
    if isAnew { return "the server's past is another one: with the next connection the file begins anew, and what waits is done again" }
    if waiting.isEmpty { return "nothing waits" }
    if history == nil { return "the file has never been connected" }
    if waiting.contains(where: \.isVoid) { return "what is void built on a refused change: the server is asked for its objects" }
    return "the server has not answered since it was written"
  }

  private static func time(_ milliseconds: UInt64) -> String {
    let seconds = Int64(clamping: milliseconds / 1000)
    return Timestamp(secondsSince1970: seconds, nanoseconds: Int64(milliseconds % 1000) * 1_000_000).description
  }
}
