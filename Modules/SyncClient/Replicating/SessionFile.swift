import ChangeTracker
import StorageInterface
import StoreValues
import SyncModel
import SyncProtocol
import Vivarium

/// What a session reads and writes of its file, each in one version.
package struct SessionFile: Sendable {
  let file: SharedFile
  /// What becomes of what waits where the past is another one.
  var resetMode: ResetMode

  /// Of a file.
  package init(_ file: SharedFile, resetMode: ResetMode = .recover) { (self.file, self.resetMode) = (file, resetMode) }

  /// How far the file is, with what waits; makes it a replica where it is none yet. What it says is durable.
  package func standing() async throws -> LocalStanding {
    let known = try file.read { snapshot in
      try sides(snapshot) { sides, standing in try LocalStanding(sides, standing) }
    }
    if let known {
      try await file.makeDurable()
      return known
    }
    return try await write { changes, sides in
      try changes.finish()
      return try LocalStanding(sides, changes.standing)
    }
  }

  /// What waits behind a number, whole writes, about so many bytes and at least one; durable.
  package func outbox(after clientSeq: UInt64, bytes: Int) async throws -> [OutboxEntry] {
    let entries = try file.read { snapshot in
      try sides(snapshot) { sides, _ in try Outbox.entries(after: clientSeq, bytes: bytes, sides) }
    }
    guard let entries, !entries.isEmpty else { return [] }
    try await file.makeDurable()
    return entries
  }

  /// The number of the last changeset that the file has made, and that of the oldest that waits.
  package func waiting() throws -> (last: UInt64, oldest: UInt64?) {
    try file.read { snapshot in
      try sides(snapshot) { sides, standing in
        (standing.clientSeq, try Outbox.pending(bytesMax: 1, sides).all.first?.changeset.clientSeq)
      }
    } ?? (0, nil)
  }

  /// Bytes that wait: of changesets behind a number, and up to each of some others; and the number of the last one that was made.
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

  /// Takes entries in, in one commit.
  package func integrate(_ entries: [LogEntry], clockOffset: Int64?) async throws -> LocalStanding {
    try await write(author: SessionFile.author(of: entries)) { changes, sides in
      if let clockOffset { changes.standing.clock.offset = clockOffset }
      for entry in entries { try changes.take(entry) }
      try changes.finish()
      return try LocalStanding(progress: sides, changes.standing)
    }
  }

  /// Takes pages in, in one commit.
  package func take(_ pages: [StatePage], _ bound: Bound, clockOffset: Int64?, wall: Int64) async throws -> LocalStanding {
    guard resetMode == .recoverOrDiscard else { return try await take(pages, bound, clockOffset, wall, discards: false) }
    do { return try await take(pages, bound, clockOffset, wall, discards: false) } catch where SessionFile.isLasting(error) {
      return try await take(pages, bound, clockOffset, wall, discards: true)
    }
  }

  private func take(
    _ pages: [StatePage], _ bound: Bound, _ clockOffset: Int64?, _ wall: Int64, discards: Bool
  ) async throws -> LocalStanding {
    try await write { changes, sides in
      if discards, changes.standing.isAnew { try changes.discardWaiting() }
      changes.standing.history = bound.history
      if let clockOffset { changes.standing.clock.offset = clockOffset }
      try changes.take(pages, bound, isAll: bound.mode == .snapshot, wall: wall)
      try changes.finish()
      return try LocalStanding(progress: sides, changes.standing)
    }
  }

  /// What is stamped from now on goes by the server's clock. No commit where it does so already, within a second.
  package func setClock(offset: Int64) async throws {
    let known = try file.read { snapshot in try sides(snapshot) { _, standing in standing.clock.offset } } ?? nil
    if let known, abs(known - offset) < 1_000 { return }
    try await write { changes, _ in
      changes.standing.clock.offset = offset
      try changes.finish()
    }
  }

  /// Begins anew: the next connection brings all objects.
  ///
  /// - Parameter replica: who the file is from now on; nil where its number is its own and goes on.
  package func beginAnew(as replica: ReplicaID?) async throws -> LocalStanding {
    // As the same replica only what is dated anew is done again: nobody's past is another one.
    let discards = resetMode == .discard && replica != nil
    return try await write { changes, sides in
      if discards { try changes.discardWaiting() }
      try changes.beginAnew(as: replica)
      try changes.finish()
      return try LocalStanding(sides, changes.standing)
    }
  }

  // MARK: ways in

  /// nil for a file that is no replica yet.
  private func sides<R>(
    _ snapshot: any StorageReading, _ body: (any SideReading, ReplicaStanding) throws -> R
  ) throws -> R? {
    guard let sides = snapshot.powers.sides else { throw StorageError.withoutSideEntries }
    guard let standing = try ReplicaStanding.read(sides) else { return nil }
    return try body(sides, standing)
  }

  @discardableResult private func write<R: Sendable>(
    author: String? = nil, _ body: @escaping @Sendable (inout RemoteChanges, any SideReading) throws -> R
  ) async throws -> R {
    try await file.integrate(author: author) { write in
      var changes = try RemoteChanges(write)
      return try body(&changes, changes.sides)
    }
  }

  /// Whether changes cannot be done again: not for now, as the disk is full or another writes, which passes, but for what they are.
  private static func isLasting(_ error: any Error) -> Bool {
    if error is CodingError { return true }
    guard let error = (error as? StoreError)?.underlying as? StorageError else { return false }
    let lasting: Set<StorageError.Code> = [.uniqueViolation, .objectDeleted, .tooLarge, .typeMismatch, .indexOutOfRange]
    return lasting.contains(error.code)
  }

  /// Whose changes they are, where they are one user's.
  private static func author(of entries: [LogEntry]) -> String? {
    var only: String?
    for case .changeset(let author, _) in entries.map(\.body) {
      if let only, only != author { return nil }
      only = author
    }
    return only
  }
}
