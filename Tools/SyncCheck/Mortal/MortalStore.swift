#if Sync
import ServerStoreForwarding
import SyncModel
import SyncProtocol
import SyncServer

/// A server's stores whose process dies at one point of a call.
struct MortalStore: ServerStoreInFront, MortalHandling {
  let base: any SyncServerStore
  let fuse: Fuse

  func bind(
    _ path: StorePath, _ replica: ReplicaID, secret: [UInt8], user: String, limit: Int, sparing spared: Set<ReplicaID>?, at time: Int64
  ) async throws(ServerStoreError) -> Standing {
    try await fuse.around("bind") { () throws(ServerStoreError) in
      try await base.bind(path, replica, secret: secret, user: user, limit: limit, sparing: spared, at: time)
    }
  }

  func declare(_ path: StorePath, _ schema: SyncSchema) async throws(ServerStoreError) -> SyncSchema {
    try await fuse.around("declare") { () throws(ServerStoreError) in try await base.declare(path, schema) }
  }

  func commit(
    _ path: StorePath, _ replica: ReplicaID, _ uploads: [Upload], refusalSeen: Seq, at time: Int64, judge: @escaping UploadJudge
  ) async throws(ServerStoreError) -> [UploadOutcome] {
    let fuse = fuse
    return try await fuse.around("commit") { () throws(ServerStoreError) in
      try await base.commit(path, replica, uploads, refusalSeen: refusalSeen, at: time) { upload in
        // The store judges with its transaction open.
        fuse.reached("in-commit")
        return judge(upload)
      }
    }
  }

  func changes(
    _ path: StorePath, for replica: ReplicaID, after seq: Seq, limitBytes: Int
  ) async throws(ServerStoreError) -> LogPage {
    try await fuse.around("changes") { () throws(ServerStoreError) in
      try await base.changes(path, for: replica, after: seq, limitBytes: limitBytes)
    }
  }

  func objects(
    _ path: StorePath, of history: [UInt8]?, changedAfter seq: Seq, behind last: ObjectIdentity?, limitBytes: Int
  ) async throws(ServerStoreError) -> StatePage {
    try await fuse.around("objects") { () throws(ServerStoreError) in
      try await base.objects(path, of: history, changedAfter: seq, behind: last, limitBytes: limitBytes)
    }
  }

  func acknowledge(
    _ path: StorePath, _ replica: ReplicaID, _ state: Acknowledgement, at time: Int64
  ) async throws(ServerStoreError) {
    try await fuse.around("acknowledge") { () throws(ServerStoreError) in try await base.acknowledge(path, replica, state, at: time) }
  }

  func purge(_ path: StorePath, expiry: Int64) async throws(ServerStoreError) -> Purge? {
    try await fuse.around("purge") { () throws(ServerStoreError) in try await base.purge(path, expiry: expiry) }
  }

  func truncateLog(_ path: StorePath, through seq: Seq) async throws(ServerStoreError) {
    try await fuse.around("truncate") { () throws(ServerStoreError) in try await base.truncateLog(path, through: seq) }
  }
}

/// A server's side of a connection, whose process dies before or after something that it receives or sends.
struct FusedTransport: SyncTransport {
  let base: any SyncTransport
  let fuse: Fuse

  func receive() async throws(TransportError) -> [UInt8]? {
    // What follows from a part is done by the time the next one is asked for.
    fuse.reached("after-receive")
    let part = try await base.receive()
    fuse.reached("before-receive")
    return part
  }

  func send(_ parts: [[UInt8]]) async throws(TransportError) {
    fuse.reached("before-send")
    try await base.send(parts)
    fuse.reached("after-send")
  }

  func close() async { await base.close() }
}
#endif
