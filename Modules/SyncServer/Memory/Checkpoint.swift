import SyncModel
import SyncProtocol

/// The last checkpoint of a log.
package struct Checkpoint: Sendable {
  /// The entry as of which all objects can be told.
  package let seq: Seq
  /// The objects whose states as of it are kept, of those that are there. In a part of a log, of those that are loaded.
  package var objects: Set<ObjectIdentity> = []
  /// The bytes of these states.
  package private(set) var keptBytes = 0
  /// What taking in the entries behind it costs: their bytes, and for each what as many bytes of states cost to read.
  package private(set) var entryBytes = 0

  private static let bytesOfEntry = 256

  /// A checkpoint behind which nothing has happened.
  package init(at seq: Seq) { self.seq = seq }

  /// One that was stored.
  package init(at seq: Seq, keptBytes: Int, entryBytes: Int) {
    (self.seq, self.keptBytes, self.entryBytes) = (seq, keptBytes, entryBytes)
  }

  /// Whether the next transaction is to begin another one. What is kept is never more than what was done, and what a handler takes in
  /// never much more than the objects that it begins with.
  var isDue: Bool { entryBytes >= keptBytes }

  mutating func keep(_ before: [ObjectBefore]) {
    for before in before {
      objects.insert(before.object)
      keptBytes += before.size
    }
  }

  mutating func note(entryOf bytes: Int) { entryBytes += bytes + Checkpoint.bytesOfEntry }
}
