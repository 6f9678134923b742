import ChangeTracker
import Dispatch
import StorageInterface
import StoreValues
import Synchronization

extension ResultNotifier {
  /// Begins to watch an object or a list. Returns at once.
  package func observe(_ watch: ObjectWatch) {
    watch.place.startsPending.add(1, ordering: .acquiringAndReleasing)
    startingWatches.withLock { $0[ObjectIdentifier(watch)] = watch }
    queue.async { self.start(watch) }
  }

  /// Ends a watch, from any thread, without waiting. Idempotent; also for a watch that had its last call.
  package func stop(_ watch: ObjectWatch) {
    _ = watch.end()
    queue.async {
      self.lock.withLock { _ in self.detach(watch) }
      self.restIfIdle()
    }
  }

  private func start(_ watch: ObjectWatch) {
    defer {
      watch.place.startsPending.subtract(1, ordering: .acquiringAndReleasing)
      watch.place.wake()
    }
    do throws(StorageError) {
      if !watch.isEnded { try listen() }
      try steps.withLock { _ throws(StorageError) in
        // If a write has begun it, another process may have committed since, before anybody listened.
        try holdNewest()
        try lock.withLock { _ throws(StorageError) in
          if takeStarting(watch), !watch.isEnded { try attach(watch) }
        }
      }
    } catch {
      lock.withLock { _ in
        _ = takeStarting(watch)
        fail(watch, error)
      }
    }
    restIfIdle()
  }

  /// Advances everything, or begins to hold a version. Call with `steps`.
  private func holdNewest() throws(StorageError) {
    if lock.withLock({ _ in held != nil }) { return try advance() }
    let newest = try engine.beginRead()
    lock.withLock { _ in held = newest }
  }

  /// Begins the watches of a place's objects that the queue has not begun, if something was committed since they were asked for. An
  /// object's observer has no first call: it is told of that commit as everybody else is. A collection's has one, which the queue brings.
  /// Call with `steps`.
  func beginLateWatches(at place: DeliveryPlace) {
    let starting = startingWatches.withLock { Array($0.values) }.filter { $0.place === place && $0.isOfObject && !$0.isEnded }
    guard !starting.isEmpty, let newest = try? engine.latestVersion() else { return }
    let late = starting.filter { $0.version < newest }
    if late.isEmpty { return }
    do throws(StorageError) {
      try holdNewest()
    } catch {
      return lock.withLock { _ in for watch in late where takeStarting(watch) { fail(watch, error) } }
    }
    lock.withLock { _ in
      for watch in late where takeStarting(watch) {
        do throws(StorageError) { try attach(watch) } catch { fail(watch, error) }
      }
    }
  }

  /// Whether nobody has begun it. The caller does, under the same lock.
  private func takeStarting(_ watch: ObjectWatch) -> Bool {
    startingWatches.withLock { $0.removeValue(forKey: ObjectIdentifier(watch)) } != nil
  }

  /// Ends a watch that cannot begin: it only gets the error.
  private func fail(_ watch: ObjectWatch, _ error: StorageError) {
    watch.fail(error)
    register(watch)
    touch(watch)
  }

  private func attach(_ watch: ObjectWatch) throws(StorageError) {
    guard let held else { return }  // just set
    register(watch)
    // The commits since the observer read the object, whether or not they touched it.
    if held.version > watch.version {
      if let records = try self.records(after: watch.version, in: held) {
        // The watch may already have been told whose commits to ignore.
        let isIgnoring = !watch.isPending && watch.ignoresAll(of: records)
        for record in records {
          for change in record.tables where change.table == watch.table {
            _ = watch.note(change, of: record, steps: &workDone.searchSteps)
          }
        }
        for record in records {
          for change in record.tables {
            _ = try watch.noteDeep(change, of: record, from: held, to: held)
          }
        }
        if isIgnoring { ignore(records, watch, held) }
      } else {
        watch.noteEverything()
      }
      watch.reached(held.version)
    }
    if watch.isPending { touch(watch) }
  }

  /// Registers the watch until it is detached. Idempotent.
  private func register(_ watch: ObjectWatch) {
    if watches[watch.table]?[watch.key.rawValue]?.contains(where: { $0 === watch }) == true { return }
    watches[watch.table, default: [:]][watch.key.rawValue, default: []].append(watch)
    if watch.isDeep { deepWatches.append(watch) }
    addStore(at: watch.place)
  }

  private func detach(_ watch: ObjectWatch) {
    guard let known = watches[watch.table]?[watch.key.rawValue], known.contains(where: { $0 === watch }) else { return }
    let left = known.filter { $0 !== watch }
    watches[watch.table]?[watch.key.rawValue] = left.isEmpty ? nil : left
    if watches[watch.table]?.isEmpty == true { watches[watch.table] = nil }
    if watch.isDeep { deepWatches.removeAll { $0 === watch } }
    observingStores[ObjectIdentifier(watch.place)]?.touched[ObjectIdentifier(watch)] = nil
    removeStore(at: watch.place)
  }

  /// Skips a commit that the watch is not notified of: it knows the object's current state.
  func skip(
    _ watch: ObjectWatch, _ records: [CommitRecord], _ waited: ObjectWatch.Waiting, knowing known: ObjectWatch.Known, at version: Version,
    _ reading: any StorageReading
  ) {
    do throws(StorageError) {
      var known = known
      if let successor = try watch.successor(reading) {
        move(watch, to: successor)
        known = try watch.known(setBy: records, in: reading)
      }
      watch.skip(records, waited, knowing: known, at: version)
    } catch {
      watch.fail(error)
      touch(watch)
    }
  }

  /// Moves a watch to the object that replaced its own.
  private func move(_ watch: ObjectWatch, to successor: ObjectKey) {
    let left = watches[watch.table]?[watch.key.rawValue]?.filter { $0 !== watch } ?? []
    watches[watch.table]?[watch.key.rawValue] = left.isEmpty ? nil : left
    watch.succeed(successor)
    watches[watch.table, default: [:]][successor.rawValue, default: []].append(watch)
  }

  func touch(_ watch: ObjectWatch) {
    observingStores[ObjectIdentifier(watch.place)]?.touched[ObjectIdentifier(watch)] = watch
  }

  /// Notes commits' changes of watched objects. O(changes) or O(watches), whichever is less, for each table.
  func note(
    _ records: [CommitRecord]?, from: any StorageReading, to: any StorageReading
  ) throws(StorageError) {
    if watches.isEmpty { return }
    guard let records else {
      for watch in watches.values.flatMap({ $0.values.joined() }) {
        watch.noteEverything()
        touch(watch)
      }
      return
    }
    // Watches that ignore the authors of all these commits and have nothing pending know the result.
    let ignoring =
      records.allSatisfy { $0.author == nil }
      ? [] : watches.values.flatMap { $0.values.joined() }.filter { !$0.isPending && $0.ignoresAll(of: records) }
    for record in records {
      for change in record.tables {
        guard let known = watches[change.table] else { continue }
        note(change, of: record, known)
      }
    }
    // List positions are those of the newest version, so all edits come first.
    for watch in deepWatches { noteDeep(records, for: watch, from: from, to: to) }
    for watch in ignoring { ignore(records, watch, to) }
  }

  /// Skips these commits for a watch that had nothing pending and knows their result.
  private func ignore(_ records: [CommitRecord], _ watch: ObjectWatch, _ reading: any StorageReading) {
    guard watch.isPending else { return }
    do throws(StorageError) {
      let known = try watch.known(setBy: records, in: reading)
      skip(watch, records, ObjectWatch.Waiting(), knowing: known, at: reading.version, reading)
    } catch {
      watch.fail(error)
      touch(watch)
    }
  }

  /// A read error ends only this watch.
  private func noteDeep(
    _ records: [CommitRecord], for watch: ObjectWatch, from: any StorageReading, to: any StorageReading
  ) {
    do throws(StorageError) {
      for record in records {
        for change in record.tables where try watch.noteDeep(change, of: record, from: from, to: to) {
          touch(watch)
        }
      }
    } catch {
      watch.fail(error)
      touch(watch)
    }
  }

  private func note(_ change: TableChange, of record: CommitRecord, _ known: [Int64: [ObjectWatch]]) {
    if known.count < change.modified.count + change.deleted.count {
      for watches in known.values { note(change, of: record, watches) }
      return
    }
    for object in change.modified { note(change, of: record, known[object.key.rawValue] ?? []) }
    for key in change.deleted { note(change, of: record, known[key] ?? []) }
  }

  private func note(_ change: TableChange, of record: CommitRecord, _ watches: [ObjectWatch]) {
    workDone.watchesTested += watches.count
    for watch in watches where watch.note(change, of: record, steps: &workDone.searchSteps) { touch(watch) }
  }

  /// The offers of a store's watches, except resting ones, in the order in which the watches began.
  func watchOffers(
    of place: DeliveryPlace, but resting: Set<ObjectIdentifier>, at version: Version, _ reading: any StorageReading
  ) -> [WatchOffer] {
    let observingStore = ObjectIdentifier(place)
    guard let touched = observingStores[observingStore]?.touched, !touched.isEmpty else { return [] }
    let pending = touched.filter { !$0.value.isEnded && $0.value.isPending }
    observingStores[observingStore]?.touched = pending
    let due = resting.isEmpty ? pending : pending.filter { !resting.contains($0.key) }
    return due.values.sorted { $0.number < $1.number }.compactMap { offer(of: $0, at: version, reading) }
  }

  private func offer(of watch: ObjectWatch, at version: Version, _ reading: any StorageReading) -> WatchOffer? {
    if let failed = watch.failureOffer(at: version) { return failed }
    do throws(StorageError) {
      if let successor = try watch.successor(reading) { move(watch, to: successor) }
      return try watch.offer(at: version, reading)
    } catch {
      watch.fail(error)
      return watch.failureOffer(at: version)
    }
  }
}
