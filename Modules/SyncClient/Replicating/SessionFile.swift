import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel
import SyncProtocol
import Vivarium

/// What a session reads from and writes to its file, each call in one version.
package struct SessionFile: Sendable {
  let file: SharedFile
  /// What becomes of pending changes when the history is another.
  var resetMode: ResetMode

  /// Creates the session's access to a file.
  package init(_ file: SharedFile, resetMode: ResetMode = .recover) { (self.file, self.resetMode) = (file, resetMode) }

  /// The file's standing, including pending changes; makes the file a replica if it is none yet. The result is durable.
  package func standing() async throws -> LocalStanding {
    do { return try await knownStanding() } catch where StagedPages.isDamage(error) {
      try await dropPages()
      throw error
    }
  }

  private func knownStanding() async throws -> LocalStanding {
    let known = try file.read { snapshot in
      try sides(snapshot) { sides, standing in (try LocalStanding(sides, standing), try StagedPages.areThere(sides)) }
    }
    var standing: LocalStanding
    if let (known, hasPages) = known {
      // Those of another time are of no use any more.
      if hasPages, known.staged == nil { try await dropPages() }
      try await file.makeDurable()
      standing = known
    } else {
      standing = try await write { changes, sides in
        try changes.finish()
        return try LocalStanding(sides, changes.standing)
      }
    }
    standing.schema = try file.read { [file] snapshot in SyncSchema(snapshot.catalog) { file.replicates($0) } }
    return standing
  }

  /// The pending changesets after a number: whole writes, about the given number of bytes and at least one write; durable.
  package func outbox(after clientSeq: UInt64, bytes: Int) async throws -> [OutboxEntry] {
    let entries = try file.read { snapshot in
      try sides(snapshot) { sides, _ in try Outbox.entries(after: clientSeq, bytes: bytes, sides) }
    }
    guard let entries, !entries.isEmpty else { return [] }
    try await file.makeDurable()
    return entries
  }

  /// The number of the last changeset made, and that of the oldest pending one; and the replica that numbers them, nil while pending ones
  /// have the numbers of an earlier one.
  package func waiting() throws -> (last: UInt64, oldest: UInt64?, replica: ReplicaID?) {
    try file.read { snapshot in
      try sides(snapshot) { sides, standing in
        (
          standing.clientSeq, try Outbox.pending(bytesMax: 1, sides).all.first?.changeset.clientSeq,
          standing.isRenamed ? nil : standing.replica
        )
      }
    } ?? (0, nil, nil)
  }

  /// The pending bytes: of changesets after a number, and up to each of some others; and the number of the last changeset made.
  func waitingBytes(after start: UInt64, through ends: [UInt64]) throws -> (new: Int, upTo: [Int], last: UInt64) {
    try file.read { snapshot in
      try sides(snapshot) { sides, standing in
        (
          try Outbox.bytes(after: start, through: .max, sides), try ends.map { try Outbox.bytes(after: 0, through: $0, sides) },
          standing.clientSeq
        )
      }
    } ?? (0, ends.map { _ in 0 }, 0)
  }

  /// Integrates entries, in one commit.
  package func integrate(_ entries: [LogEntry], clockOffset: Int64?) async throws -> LocalStanding {
    try await write(author: SessionFile.author(of: entries)) { changes, sides in
      if let clockOffset { changes.standing.clock.offset = clockOffset }
      for entry in entries { try changes.take(entry) }
      try changes.finish()
      return try LocalStanding(progress: sides, changes.standing)
    }
  }

  /// Sets the clock to follow the server's. No commit if it already does, within a second.
  package func setClock(offset: Int64) async throws {
    let known = try file.read { snapshot in try sides(snapshot) { _, standing in standing.clock.offset } } ?? nil
    if let known {
      // A file may have an offset of any size from a server whose clock was not checked.
      let (difference, isFar) = known.subtractingReportingOverflow(offset)
      if !isFar, difference.magnitude < 1_000 { return }
    }
    try await write { changes, _ in
      changes.standing.clock.offset = offset
      try changes.finish()
    }
  }

  /// Begins anew: the next connection brings all objects.
  ///
  /// - Parameter replica: the file's new replica; nil to stay the same one.
  package func beginAnew(as replica: ReplicaID?) async throws -> LocalStanding {
    // For the same replica, pending changes are only stamped again: no history has changed.
    let discards = resetMode == .discard && replica != nil
    return try await write { changes, sides in
      if discards { try changes.discardWaiting() }
      try changes.beginAnew(as: replica)
      try changes.finish()
      var standing = try LocalStanding(sides, changes.standing)
      standing.recovery = changes.report
      return standing
    }
  }

  // MARK: reading and writing

  /// Returns nil for a file that is not a replica yet.
  func sides<R>(
    _ snapshot: any StorageReading, _ body: (any SideReading, ReplicaStanding) throws -> R
  ) throws -> R? {
    guard let sides = snapshot.powers.sides else { throw StorageError.withoutSideEntries }
    guard let standing = try ReplicaStanding.read(sides) else { return nil }
    return try body(sides, standing)
  }

  @discardableResult func write<R: Sendable>(
    author: String? = nil, _ body: @escaping @Sendable (inout RemoteChanges, any SideReading) throws -> R
  ) async throws -> R {
    try await file.integrate(author: author) { write in
      var changes = try RemoteChanges(write)
      return try body(&changes, changes.sides)
    }
  }

  /// Whether changes can never be redone, as opposed to temporary reasons such as a full disk or another writer.
  static func isLasting(_ error: any Error) -> Bool {
    if error is CodingError { return true }
    guard let error = (error as? StoreError)?.underlying as? StorageError else { return false }
    let lasting: Set<StorageError.Code> = [.uniqueViolation, .objectDeleted, .tooLarge, .typeMismatch, .indexOutOfRange]
    return lasting.contains(error.code)
  }

  /// The author of the changes, if all are by one user.
  private static func author(of entries: [LogEntry]) -> String? {
    var only: String?
    for case .changeset(let author, _) in entries.map(\.body) {
      if let only, only != author { return nil }
      only = author
    }
    return only
  }
}
