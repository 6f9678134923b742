import SyncModel
import SyncProtocol

// Uploads: writes in order, each whole, within the granted credit.

extension SyncSession {
  /// A larger write goes in several messages.
  private static let messageBytes = 4 << 20

  /// Writes within a few milliseconds are sent together.
  mutating func planUpload(_ now: Int64, _ effects: inout [SyncSessionEffect]) {
    guard state == .live, !isUploadPlanned else { return }
    isUploadPlanned = true
    effects.append(.wake(.upload, at: now + configuration.gathering, generation: generation))
  }

  mutating func readOutbox(_ effects: inout [SyncSessionEffect]) {
    guard state == .live, credit.bytes > 0 else { return }
    if isReading {
      // The reading under way may not include what this call asks for.
      isReadingDue = true
      return
    }
    (isReading, isReadingDue) = (true, false)
    reading &+= 1
    effects.append(.readOutbox(after: sent, bytes: configuration.uploadBytes, reading: reading))
  }

  mutating func upload(_ entries: [OutboxEntry], _ effects: inout [SyncSessionEffect]) {
    guard state == .live, isReading else { return }
    isReading = false
    declare(entries, &effects)
    var changesets: [Changeset] = []
    func flush(_ effects: inout [SyncSessionEffect]) {
      if !changesets.isEmpty { effects.append(.send(.upload(session: SyncSession.number, changesets))) }
      changesets = []
    }
    for entry in entries where entry.clientSeq > sent {
      switch entry {
      case .write(let write, let bytes):
        guard credit.take(bytes) else { return flush(&effects) }
        if bytes <= SyncSession.messageBytes {
          changesets += write
        } else {
          // Each changeset is far smaller than the longest message.
          flush(&effects)
          for changeset in write { effects.append(.send(.upload(session: SyncSession.number, [changeset]))) }
        }
      case .void(let clientSeq, let objects):
        flush(&effects)
        effects.append(.send(.void(session: SyncSession.number, clientSeq: clientSeq, objects: objects)))
      }
      sent = entry.clientSeq
      made = max(made, sent)
    }
    flush(&effects)
    if !entries.isEmpty || isReadingDue { readOutbox(&effects) }
  }

  /// Declares the types of what is uploaded next, once a connection. It goes ahead of the upload, without waiting for the answer: if the
  /// server refuses it, it ends the session and ignores what follows.
  private mutating func declare(_ entries: [OutboxEntry], _ effects: inout [SyncSessionEffect]) {
    guard declares else { return }
    var new: Set<Name> = []
    for case .write(let changesets, _) in entries {
      for changeset in changesets {
        for operation in changeset.operations where !declared.contains(operation.object.className) {
          new.insert(operation.object.className)
        }
      }
    }
    if new.isEmpty { return }
    declared.formUnion(new)
    let part = schema.part(new)
    if !part.classes.isEmpty { effects.append(.send(.schema(session: SyncSession.number, part.encoded))) }
  }
}
