import StorageInterface
import StoreValues
import Synchronization
import VivariumTestSupport

extension StorageConformance {
  static let writerChecks: [ConformanceCheck] = [
    ConformanceCheck("aSecondWriterWaitsForTheFirst") { subject in
      let store = try ConformanceStore(subject)
      let first = try store.engine.beginWrite(.never)
      let asked = Signal()
      let second = Background {
        asked.fire()
        return try store.write { write in
          try write.insert(store.pet)
          return try write.count(store.pet.id)
        }
      }
      try expect(asked.wait(), "the other thread does not run")
      try first.insert(store.pet)
      _ = try first.commit(CommitRecord(), .relaxed)
      try expectEqual(try second.wait(), 2, "what the second writer saw")
    },
    ConformanceCheck("aWriterPastItsDeadlineGetsWriteTimeoutAndTheStoreGoesOn") { subject in
      let store = try ConformanceStore(subject)
      let first = try store.engine.beginWrite(.never)
      for deadline in [Deadline.after(.zero), .after(.milliseconds(20)), .after(.seconds(-5))] {
        try onAnotherThread {
          _ = try expectError(.writeTimeout, nil, "beginWrite") { try store.engine.beginWrite(deadline) }
        }
      }
      try first.insert(store.pet)
      _ = try first.commit(CommitRecord(), .relaxed)
      try store.write { try $0.insert(store.pet) }
      try expectEqual(try store.read { try $0.count(store.pet.id) }, 2)
    },
    ConformanceCheck("aFreeLockIsHadAtOnceWithAnyDeadline") { subject in
      let store = try ConformanceStore(subject)
      for deadline in [Deadline.never, .after(.seconds(600)), .after(.seconds(100_000_000_000))] {
        try store.engine.beginWrite(deadline).end()
      }
    },
    ConformanceCheck("endingAWriteRollsBackAndFreesTheLock") { subject in
      let store = try ConformanceStore(subject)
      let write = try store.engine.beginWrite(.never)
      try store.addPeople(0..<10, write)
      write.end()
      write.end()
      try expectError(.closed, nil, "insert") { try write.insert(store.pet) }
      try expectError(.closed, nil, "commit") { try write.commit(CommitRecord(), .relaxed) }
      try store.engine.beginWrite(.after(.seconds(600))).end()
      try expectEqual(try store.read { try $0.count(store.person.id) }, 0)
    },
    ConformanceCheck("droppingAWriteRollsBackAndFreesTheLock") { subject in
      let store = try ConformanceStore(subject)
      func begin() throws {
        let write = try store.engine.beginWrite(.never)
        try store.addPeople(0..<10, write)
      }
      try begin()
      try store.engine.beginWrite(.after(.seconds(600))).end()
      try expectEqual(try store.read { try $0.count(store.person.id) }, 0)
    },
    ConformanceCheck("aCommitEndsTheWriteAndFreesTheLock") { subject in
      let store = try ConformanceStore(subject)
      let write = try store.engine.beginWrite(.never)
      try write.insert(store.pet)
      _ = try write.commit(CommitRecord(), .relaxed)
      try expectError(.closed, nil, "count") { try write.count(store.pet.id) }
      try expectError(.closed, nil, "insert") { try write.insert(store.pet) }
      try expectError(.closed, nil, "a second commit") { try write.commit(CommitRecord(), .relaxed) }
      write.end()
      try store.engine.beginWrite(.after(.seconds(600))).end()
      try expectEqual(try store.read { try $0.count(store.pet.id) }, 1)
    },
    ConformanceCheck("aWriteBegunOnOneThreadCommitsOnAnother") { subject in
      let store = try ConformanceStore(subject)
      for i in 0..<5 {
        let write = Handed(thing: try store.engine.beginWrite(.never))
        try onAnotherThread { _ = try store.addPeople(i..<i + 1, write.thing) }
        try onAnotherThread { try expectEqual(try write.thing.count(store.person.id), i + 1) }
        try onAnotherThread { _ = try write.thing.commit(CommitRecord(), .relaxed) }
        let lost = Handed(thing: try store.engine.beginWrite(.after(.seconds(600))))
        try onAnotherThread { _ = try lost.thing.insert(store.pet) }
        try onAnotherThread { lost.thing.end() }
      }
      try store.read { read in
        try expectEqual(try read.count(store.person.id), 5)
        try expectEqual(try read.count(store.pet.id), 0)
      }
    },
    ConformanceCheck("writersOnManyThreadsLoseNothing") { subject in
      let store = try ConformanceStore(subject)
      let rank = store.person.column(named: "rank")
      let key = try store.write { write in
        let key = try store.addPeople(0..<1, write)[0]
        try write.set(rank, key, word: 0)
        return key
      }
      let writers = (0..<4).map { _ in
        Background {
          for _ in 0..<25 {
            try store.write { try $0.set(rank, key, word: (try $0.word(rank, key) ?? 0) + 1) }
          }
        }
      }
      for writer in writers { try writer.wait() }
      try expectEqual(try store.read { try $0.word(rank, key) }, 100)
    },
    ConformanceCheck("waitingWritersAreServedInTheOrderTheyCame") { subject in
      let store = try ConformanceStore(subject)
      // Chance keeps another order from showing once in 720 times, and a slow thread shows a wrong one: so the best
      // of a few tries counts.
      var served: [Int] = []
      for _ in 0..<4 where served != [0, 1, 2, 3, 4, 5] { served = try orderOfService(store) }
      try expectEqual(served, [0, 1, 2, 3, 4, 5], "the order of service")
    },
  ]

  /// Six writers come one after the other while a seventh writes; in which order they get their turns.
  private static func orderOfService(_ store: ConformanceStore) throws -> [Int] {
    let order = Mutex<[Int]>([])
    let first = try store.engine.beginWrite(.never)
    var writers: [Background<Void>] = []
    for i in 0..<6 {
      let begun = Signal()
      writers.append(
        Background {
          begun.fire()
          let write = try store.engine.beginWrite(.after(.seconds(600)))
          order.withLock { $0.append(i) }
          write.end()
        })
      try expect(begun.wait(), "a thread did not begin")
      // Waiting in line behind the thread for a while lets it get into the line.
      try expectError(.writeTimeout, nil, "beginWrite") { try store.engine.beginWrite(.after(.milliseconds(25))) }
    }
    first.end()
    for writer in writers { try writer.wait() }
    return order.withLock { $0 }
  }
}
