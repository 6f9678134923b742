import SyncModel
import SyncProtocol

// How many bytes a store may have.

extension SyncHost {
  /// Commits what a store has room for of some uploads, whole transactions. The answer says if there is no room for all of them.
  ///
  /// A store is counted now and then, and what was taken in between is added. So it costs little, and a store that has overwritten what it
  /// had is not refused for that: with too many bytes it is counted again. Nothing waits for a count but what comes first, and what
  /// would be refused without it.
  ///
  /// - Parameter behind: what the device sends after the uploads. Asked only where there is no room for all of them.
  nonisolated func commit(
    _ key: SessionKey, _ place: ReplicaOfStore, _ uploads: [Upload], refusalSeen: Seq, mayWrite: Bool, judge: @escaping UploadJudge,
    behind: @Sendable () async -> [Upload]
  ) async -> ServerConnectionEvent {
    func commit(_ uploads: [Upload]) async throws(ServerStoreError) -> [UploadOutcome] {
      try await stores.commit(place.path, place.replica, uploads, refusalSeen: refusalSeen, at: clock(), judge: judge)
    }
    do throws(ServerStoreError) {
      guard let limit = configuration.bytesOfStore, !place.path.isOfServer else {
        return .committed(key, .success(try await commit(uploads)))
      }
      let room = try await room(for: uploads, at: place.path, mayWrite: mayWrite, behind: behind)
      let refusal = ServerStoreError(
        .quotaExceeded, "The store '\(place.path)' has \(room.size.bytes) bytes, and may have \(limit).")
      if room.count == 0, !uploads.isEmpty { throw refusal }
      let taken = Array(uploads.prefix(room.count))
      do throws(ServerStoreError) {
        let outcomes = try await commit(taken)
        await settle(room, at: place.path, outcomes, of: taken)
        return taken.count == uploads.count ? .committed(key, .success(outcomes)) : .committedInPart(key, outcomes, refusal)
      } catch {
        await settle(room, at: place.path)
        throw error
      }
    } catch { return .committed(key, .failure(error)) }
  }

  /// What a store has room for of some uploads. It is kept free for them until `settle`.
  private nonisolated func room(
    for uploads: [Upload], at path: StorePath, mayWrite: Bool, behind: @Sendable () async -> [Upload]
  ) async throws(ServerStoreError) -> StoreRoom {
    let parts = StoreDemand.all(of: uploads, mayWrite: mayWrite)
    let room = try await room(for: parts, at: path)
    guard room.count < uploads.count, room.size.mayFit(parts, limit: configuration.bytesOfStore ?? .max) else { return room }
    let rest = StoreDemand.all(of: await behind(), mayWrite: mayWrite)
    if rest.isEmpty { return room }
    await settle(room, at: path)
    return try await self.room(for: parts, behind: rest, at: path)
  }

  private func room(
    for parts: [StoreDemand], behind: [StoreDemand] = [], at path: StorePath
  ) async throws(ServerStoreError) -> StoreRoom {
    if let known = storeSizes[path] {
      let room = room(in: known, for: parts, behind: behind, at: path)
      let isUrgent = room.count < parts.reduce(0) { $0 + $1.count }
      let isDue = known.isOld(clock(), isUrgent: isUrgent) || isUrgent && storeCountsRunning[path] != nil
      if isDue, !isUrgent { _ = count(path) }
      if !isDue || !isUrgent { return room }
      settle(room, at: path)
    }
    let counted = try await count(path).value.get()
    // Others who waited for it may have been faster.
    return room(in: storeSizes[path] ?? counted, for: parts, behind: behind, at: path)
  }

  private func room(in size: StoreSize, for parts: [StoreDemand], behind: [StoreDemand], at path: StorePath) -> StoreRoom {
    var size = size
    size.bytes += storeBytesKept[path] ?? 0
    let room = size.room(for: parts, behind: behind, limit: configuration.bytesOfStore ?? .max)
    if room.bytes > 0 { storeBytesKept[path, default: 0] += room.bytes }
    return room
  }

  /// Counts a store. Who asks while it is being counted gets that count.
  private func count(_ path: StorePath) -> Task<Result<StoreSize, ServerStoreError>, Never> {
    if let running = storeCountsRunning[path] { return running.task }
    let task = Task { () -> Result<StoreSize, ServerStoreError> in
      let begun = clock()
      do throws(ServerStoreError) { return .success(counted(path, try await stores.size(of: path), since: begun)) } catch {
        storeCountsRunning[path] = nil
        return .failure(error)
      }
    }
    storeCountsRunning[path] = StoreSizeCount(task: task)
    return task
  }

  private func counted(_ path: StorePath, _ bytes: Int, since begun: Int64) -> StoreSize {
    let count = storeCountsRunning.removeValue(forKey: path)
    let now = clock()
    let lowest = min(bytes, storeSizes[path]?.lowest ?? bytes)
    let size = StoreSize(
      bytes: bytes + (count?.added ?? 0), lowest: lowest, at: now, took: max(0, now - begun), isUnsure: count?.isUnsure ?? false)
    if storeSizes.count > 10_000 { storeSizes = [:] }
    storeSizes[path] = size
    return size
  }

  /// Adds what was taken of uploads for which there was room, in place of what was kept free for them.
  private func settle(_ room: StoreRoom, at path: StorePath, _ outcomes: [UploadOutcome] = [], of uploads: [Upload] = []) {
    storeBytesKept[path] = storeBytesKept[path].flatMap { $0 > room.bytes ? $0 - room.bytes : nil }
    var (bytes, isUnsure) = (0, false)
    for (upload, outcome) in zip(uploads, outcomes) {
      switch outcome {
      case .accepted: bytes += upload.bytes
      case .refused:
        bytes += upload.bytesRefused
        isUnsure = true
      case .duplicate, .forked, .behindRefusal, .gap, .skewed, .incomplete: break
      }
    }
    storeSizes[path]?.bytes += bytes
    storeCountsRunning[path]?.added += bytes
    guard isUnsure else { return }
    storeSizes[path]?.isUnsure = true
    storeCountsRunning[path]?.isUnsure = true
  }
}
