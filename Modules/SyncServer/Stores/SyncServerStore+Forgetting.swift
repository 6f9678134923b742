import SyncModel

extension SyncServerStore {
  /// Has every store forget what no replica and no handler needs any more: a purge, and then the entries of the log up to it. A store that
  /// fails does not keep the others from it; one that was removed in between has not failed. Throws if the stores cannot be listed.
  ///
  /// - Parameter expiry: replicas that were not seen since are forgotten (`purge`), in milliseconds since 1970.
  /// - Returns: the stores that failed, and why.
  package func forget(expiry: Int64) async throws(ServerStoreError) -> [StorePath: ServerStoreError] {
    var failures: [StorePath: ServerStoreError] = [:]
    for path in try await stores() {
      if Task.isCancelled { break }
      do throws(ServerStoreError) {
        guard let purge = try await self.purge(path, expiry: expiry) else { continue }
        try await truncateLog(path, through: purge.stable)
      } catch {
        if error.code != .unknownStore { failures[path] = error }
      }
    }
    return failures
  }
}
