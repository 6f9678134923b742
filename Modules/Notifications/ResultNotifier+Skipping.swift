import ChangeTracker
import StorageInterface
import StoreValues
import Synchronization

extension ResultNotifier {
  /// Commits an open write without notifying some tokens of its changes: their known state advances to its result. Exact even
  /// while earlier changes are pending for them.
  ///
  /// With `skipsEverybody` no token of this process is notified. `commit` is called once; if it throws, nobody is notified.
  package func commit(
    _ write: any WriteTransaction, _ record: CommitRecord, skipping observations: [ResultObservation],
    watches skippedWatches: [ObjectWatch] = [], skipsEverybody: Bool = false, _ commit: () throws(StorageError) -> Version
  ) throws(StorageError) -> Version {
    try lock.withLock { _ throws(StorageError) in
      // The writer's lock is held: no version is newer than the one the write began from, until it is over.
      // A write does not fail because its observers cannot be notified: they get the error.
      do throws(StorageError) { try advance() } catch { fail(error) }
      guard let from = held, from.version == write.version else { return try commit() }
      var steps: [(KeptResult, ResultStep)] = []
      var torn: [KeptResult] = []
      for result in results.values {
        do throws(StorageError) {
          if try result.isRebound(by: [record], in: write) {
            torn.append(result)
          } else if let step = try result.step([record], from: from, to: write) {
            steps.append((result, step))
          }
        } catch {
          torn.append(result)
        }
      }
      let skipped = (skipsEverybody ? watches.values.flatMap { $0.values.joined() } : skippedWatches).map { watch in
        (watch: watch, known: (try? watch.known(setBy: [record], in: write)) ?? ObjectWatch.Known())
      }
      var version = from.version.next
      // Then it is visible, and the disk may lack it.
      var unsynced: StorageError?
      do throws(StorageError) {
        version = try commit()
      } catch where error.code == .unsynced {
        unsynced = error
      } catch {
        for result in steps.map(\.0) + torn { rebuild(result, in: from, by: []) }
        throw error
      }
      let skipping = skipsEverybody ? results.values.flatMap(\.observations) : observations
      for (result, step) in steps {
        do throws(StorageError) {
          try result.add(step, by: [record], skipping: skipping, (from, from))
        } catch {
          fail(result, error)
        }
        workDone.steps += 1
      }
      // Skipped tokens without pending changes know a rebuilt result, too.
      let knowing = skipping.filter { $0.known?.isEmpty == true }
      do throws(StorageError) {
        try settle(at: version, from, torn, record, skipped)
        if held?.version == version { for result in torn { result.rebase(knowing, at: version) } }
      } catch {
        fail(error)
      }
      if let unsynced { throw unsynced }
      return version
    }
  }

  /// Whether nothing is pending for a token: it knows the result as of the last commit that touched it.
  package func hasNothing(for observation: ResultObservation) -> Bool {
    lock.withLock { _ in observation.known?.isEmpty == true }
  }

  /// Reads the version just committed from now on; or a later one, if another process was faster.
  private func settle(
    at version: Version, _ from: any ReadTransaction, _ torn: [KeptResult], _ record: CommitRecord,
    _ skipped: [(watch: ObjectWatch, known: ObjectWatch.Known)]
  ) throws(StorageError) {
    let to = try openNewest()
    let waited = skipped.map { $0.watch.waiting }
    try note([record], from: from, to: to)
    for ((watch, known), waited) in zip(skipped, waited) { skip(watch, [record], waited, knowing: known, at: version, to) }
    if to.version != version { try note(try records(after: version, in: to), from: to, to: to) }
    hold(to)
    from.end()
    if to.version == version {
      for result in torn { rebuild(result, in: to, by: [record]) }
    } else {
      let records = try self.records(after: version, in: to)
      for result in results.values { rebuild(result, in: to, by: records) }
    }
    for observingStore in observingStores.values { observingStore.place.wake() }
  }

  private func rebuild(_ result: KeptResult, in reading: any StorageReading, by records: [CommitRecord]?) {
    workDone.rebuilds += 1
    do throws(StorageError) { try result.rebuild(in: reading, by: records) } catch { fail(result, error) }
  }
}
