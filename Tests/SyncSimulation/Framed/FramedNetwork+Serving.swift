import SyncModel
import SyncProtocol
import SyncServer
import VivariumTestSupport

// What the server's stores say.

extension FramedNetwork {
  /// Does what a connection asks, and gives the event that answers it.
  func serve(_ effect: ServerConnectionEffect, at now: Int64) async throws -> ServerConnectionEvent? {
    let server = world.server
    switch effect {
    case .verify(let token): return .verified(.success(SyncIdentity(user: token)))
    case .bind(let key, let path, let bind, let identity):
      return .bound(
        key,
        await result { () async throws(ServerStoreError) in
          (.all, try await server.bind(path, bind.replica, secret: bind.secret, user: identity.user, at: now))
        }.mapError { SyncRefusal($0.syncCode, $0.message) })
    case .commit(let key, let place, let uploads, let seen, _):
      return .committed(key, try await commit(place, uploads, seen, at: now))
    case .declare(let key, let path, let schema):
      return .declared(key, await result { () async throws(ServerStoreError) in try await server.declare(path, schema) })
    case .acknowledge(let key, let place, let state):
      return .acknowledged(
        key, await result { () async throws(ServerStoreError) in try await server.acknowledge(place.path, place.replica, state, at: now) })
    case .readEntries(let key, let place, let seq, let limit):
      return .entries(
        key,
        await result { () async throws(ServerStoreError) in
          try await server.changes(place.path, for: place.replica, after: seq, limitBytes: limit)
        })
    case .readObjects(let key, let path, let history, let seq, let last, let limit):
      return .objects(
        key,
        await result { () async throws(ServerStoreError) in
          try await server.objects(path, of: history, changedAfter: seq, behind: last, limitBytes: limit)
        })
    case .readHead(let key, let path, let mark):
      return .head(key, mark: mark, .success(await server.heads([path])[path] ?? .zero))
    case .send, .close, .wake, .unbind: return nil
    }
  }

  private func commit(
    _ place: ReplicaOfStore, _ uploads: [Upload], _ seen: Seq, at now: Int64
  ) async throws -> Result<[UploadOutcome], ServerStoreError> {
    let isRefused = !isResting && world.random.oneIn(8)
    let server = world.server
    let result = await result { () async throws(ServerStoreError) in
      try await server.commit(place.path, place.replica, uploads, refusalSeen: seen, at: now) { _ in
        isRefused ? Verdict(.writeDenied) : nil
      }
    }
    guard case .success(let outcomes) = result else { return result }
    let skewed = outcomes.firstIndex(of: .skewed)
    for (upload, outcome) in zip(uploads, outcomes).prefix(skewed ?? .max) {
      try world.note(upload, outcome)
      if outcome == .duplicate { world.report.repeats += 1 }
    }
    world.report.uploads += 1
    tell()
    return result
  }

  private func result<T>(_ body: () async throws(ServerStoreError) -> T) async -> Result<T, ServerStoreError> {
    do throws(ServerStoreError) { return .success(try await body()) } catch { return .failure(error) }
  }
}
