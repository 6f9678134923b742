// A server's process for tests: replicas upload through it as fast as it takes them in, until it is killed.
//
//   postgres-child ADDRESS PATH REPLICA…
//
// It prints "replica number" of each changeset that was answered. What a changeset holds follows from its number alone, so that a replica
// goes on in another process as a device would: behind what the server has judged.

import SyncModel
import SyncProtocol
import SyncServer
import SyncStorePostgres

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

#if Sync
/// Counts what was taken in: one more for each changeset.
let counter = ObjectIdentity("Counter", .int(1))

func upload(_ number: UInt64, by replica: ReplicaID) -> Upload {
  let thing = ObjectIdentity("Thing", .string(Name("\(replica) \(number)")))
  return .changeset(
    Changeset(
      clientSeq: number, baseSeq: .zero, first: Stamp(milliseconds: 1_000 + number, counter: 0, replica: replica),
      operations: [
        Operation(counter, epoch: .zero, .create), Operation(counter, epoch: .zero, .add("count", 1)),
        Operation(thing, epoch: .zero, .create),
      ]))
}

func live(_ replica: ReplicaID, _ path: StorePath, _ stores: PostgresServerStore) async throws {
  var number = try await stores.bind(path, replica, secret: [1], user: "u", at: 1).judged + 1
  while true {
    let uploads = (number..<number + 3).map { upload($0, by: replica) }
    let outcomes = try await stores.commit(path, replica, uploads, refusalSeen: .zero, at: 1_000_000) { _ in nil }
    for outcome in outcomes {
      switch outcome {
      // What came before was taken in, by this process or one that was killed.
      case .accepted, .duplicate: print("\(replica) \(number)")
      default: throw ServerStoreError(.unavailable, "An upload was answered with \(outcome).")
      }
      number += 1
    }
    fflush(nil)
  }
}

let words = CommandLine.arguments
guard words.count > 3, let path = StorePath(words[2]) else { exit(2) }
let stores = try await PostgresServerStore(words[1])
try await withThrowingTaskGroup(of: Void.self) { group in
  for word in words[3...] {
    guard let replica = UInt64(word) else { exit(2) }
    group.addTask { try await live(ReplicaID(replica), path, stores) }
  }
  try await group.waitForAll()
}
#else
exit(2)
#endif
