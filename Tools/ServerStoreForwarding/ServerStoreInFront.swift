import SyncModel
import SyncProtocol
import SyncServer

/// Stores in front of others. A wrapper names its base and writes anew only what it does otherwise: fail, die or look on at a call.
public protocol ServerStoreInFront: SyncServerStore, EventStoresInFront {
  var base: any SyncServerStore { get }
}

extension ServerStoreInFront {
  public var events: any EventStores { base }
  public func makeHandlerNames() async throws(ServerStoreError) { try await base.makeHandlerNames() }
  public func makeStore(_ path: StorePath) async throws(ServerStoreError) { try await base.makeStore(path) }
  public func removeStore(_ path: StorePath) async throws(ServerStoreError) { try await base.removeStore(path) }
  public func size(of path: StorePath) async throws(ServerStoreError) -> Int { try await base.size(of: path) }

  public func bind(
    _ path: StorePath, _ replica: ReplicaID, secret: [UInt8], user: String, limit: Int, sparing spared: Set<ReplicaID>?, at time: Int64
  ) async throws(ServerStoreError) -> Standing {
    try await base.bind(path, replica, secret: secret, user: user, limit: limit, sparing: spared, at: time)
  }

  public func declare(_ path: StorePath, _ schema: SyncSchema) async throws(ServerStoreError) -> SyncSchema {
    try await base.declare(path, schema)
  }

  public func commit(
    _ path: StorePath, _ replica: ReplicaID, _ uploads: [Upload], refusalSeen: Seq, at time: Int64, judge: @escaping UploadJudge
  ) async throws(ServerStoreError) -> [UploadOutcome] {
    try await base.commit(path, replica, uploads, refusalSeen: refusalSeen, at: time, judge: judge)
  }

  public func acknowledge(
    _ path: StorePath, _ replica: ReplicaID, _ state: Acknowledgement, at time: Int64
  ) async throws(ServerStoreError) {
    try await base.acknowledge(path, replica, state, at: time)
  }

  public func purge(_ path: StorePath, expiry: Int64) async throws(ServerStoreError) -> Purge? {
    try await base.purge(path, expiry: expiry)
  }

  public func truncateLog(_ path: StorePath, through seq: Seq) async throws(ServerStoreError) {
    try await base.truncateLog(path, through: seq)
  }
}
