import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let isolationChecks: [ConformanceCheck] = [
    ConformanceCheck("uncommittedChangesAreSeenByTheWriteAlone") { subject in
      let store = try ConformanceStore(subject)
      let key = try store.write { try store.addPeople(0..<1, $0)[0] }
      let before = try store.read { try Picture($0) }
      let write = try store.engine.beginWrite(.never)
      defer { write.end() }
      try write.set(store.person.column(named: "name"), key, .string("mine"))
      try store.addPeople(1..<50, write)
      try write.edit(store.person.column(named: "numbers"), key, .insert(at: 0, ints([1])))
      try expectSame(try store.read { try Picture($0) }, before, "beside an open write")
      try expectEqual(try store.engine.latestVersion(), write.version)
      write.end()
      try expectSame(try store.read { try Picture($0) }, before, "after the rollback")
    },
    ConformanceCheck("aSnapshotStaysAsItWasWhateverIsCommitted") { subject in
      let store = try ConformanceStore(subject)
      var snapshots: [(any ReadTransaction, Picture)] = []
      func take() throws {
        let read = try store.engine.beginRead()
        snapshots.append((read, try Picture(read)))
      }
      try take()
      let keys = try store.write { try addVaried(80, store, $0) }
      try take()
      try store.write { try changeVaried(store, $0) }
      try take()
      try store.write { try editLists(store, keys, $0) }
      try take()
      try store.write { write in
        for (key, _) in try write.allRows(store.person, []) { try write.delete(store.person.id, ObjectKey(key)) }
      }
      try take()
      try store.write { try addVaried(50, store, $0, from: 200) }
      try take()
      for round in 0..<2 {
        for (i, (read, picture)) in snapshots.enumerated() {
          try expectSame(try Picture(read), picture, "snapshot \(i) in round \(round)")
        }
      }
      // They are let go of in another order than they were taken in.
      for i in [2, 0, 4] { snapshots[i].0.end() }
      try store.write { try changeVaried(store, $0) }
      for i in [1, 3, 5] { try expectSame(try Picture(snapshots[i].0), snapshots[i].1, "snapshot \(i) at the end") }
    },
    ConformanceCheck("aSnapshotsVersionAndCatalogStay") { subject in
      let store = try ConformanceStore(subject)
      let read = try store.engine.beginRead()
      let (version, catalog) = (read.version, read.catalog)
      var schema = ConformanceStore.schema
      schema.objects[1].properties.append(.scalar("added", .int64))
      schema.objects.append(ObjectSchema("New", .scalar("x", .int64)))
      try store.engine.adopt(schema)
      try expectEqual(read.version, version)
      try expectEqual(read.catalog, catalog)
      try expectError(.misuse, nil, "a table of a later version") {
        try read.count(try store.read { try unwrap($0.catalog["New"], "table New") }.id)
      }
      try expectEqual(try store.read { $0.version }, version.next)
    },
    ConformanceCheck("versionsGrowByOneWithEachCommit") { subject in
      let store = try ConformanceStore(subject)
      let first = try store.engine.latestVersion()
      for i in 1...20 {
        let write = try store.engine.beginWrite(.never)
        try expectEqual(write.version.rawValue, first.rawValue + UInt64(i) - 1, "the version the write began from")
        if i % 3 != 0 { try write.insert(store.pet) }
        let version = try write.commit(CommitRecord(), .relaxed)
        try expectEqual(version.rawValue, first.rawValue + UInt64(i))
        try expectEqual(try store.engine.latestVersion(), version)
        try expectEqual(try store.read { $0.version }, version)
        try store.writeInVain { try $0.insert(store.pet) }
        try expectEqual(try store.engine.latestVersion(), version, "after a rollback")
      }
    },
    ConformanceCheck("readersOnOtherThreadsSeeWholeCommits") { subject in
      let store = try ConformanceStore(subject)
      let rank = store.person.column(named: "rank")
      let keys = try store.write { write in
        let keys = try store.addPeople(0..<40, write)
        for key in keys { try write.set(rank, key, word: 0) }
        return keys
      }
      let readers = (0..<3).map { _ in
        Background {
          var last: Int64 = -1
          while last < 60 {
            try store.read { read in
              let ranks = Set(try keys.map { try read.word(rank, $0) ?? -1 })
              try expectEqual(ranks.count, 1, "different ranks in one version")
              let seen = ranks.first ?? -1
              try expect(seen >= last, "the rank went back from \(last) to \(seen)")
              last = seen
              let scanned = Set(try read.allRows(store.person, ["rank"]).map { $0.values[0] })
              try expectEqual(scanned, [.int(seen)], "a scan saw another version")
            }
          }
        }
      }
      for round in Int64(1)...60 { try store.write { write in for key in keys { try write.set(rank, key, word: round) } } }
      for reader in readers { try reader.wait() }
    },
    ConformanceCheck("aReaderBeginsWhileAWriteIsOpen") { subject in
      let store = try ConformanceStore(subject)
      let write = try store.engine.beginWrite(.never)
      try store.addPeople(0..<10, write)
      try onAnotherThread {
        try store.read { try expectEqual(try $0.count(store.person.id), 0) }
      }
      _ = try write.commit(CommitRecord(), .relaxed)
      try onAnotherThread { try store.read { try expectEqual(try $0.count(store.person.id), 10) } }
    },
    ConformanceCheck("aWriteCommitsWhileReadersAreOpen") { subject in
      let store = try ConformanceStore(subject)
      let readers = try (0..<20).map { _ in try store.engine.beginRead() }
      for i in 0..<20 { try store.write { try store.addPeople(i..<i + 1, $0) } }
      for reader in readers { try expectEqual(try reader.count(store.person.id), 0) }
      try expectEqual(try store.read { try $0.count(store.person.id) }, 20)
    },
    ConformanceCheck("aSnapshotMovesBetweenThreads") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<30, $0) }
      let read = try store.engine.beginRead()
      try expectEqual(try onAnotherThread { try read.allRows(store.person, ["name"]).count }, 30)
      try expectEqual(try read.count(store.person.id), 30)
      try onAnotherThread { read.end() }
      try expectError(.closed, nil, "count") { try read.count(store.person.id) }
    },
    ConformanceCheck("manySnapshotsOfOneThreadLiveTogether") { subject in
      let store = try ConformanceStore(subject)
      var reads: [any ReadTransaction] = []
      for i in 0..<100 {
        try store.write { try store.addPeople(i..<i + 1, $0) }
        reads.append(try store.engine.beginRead())
      }
      for (i, read) in reads.enumerated() { try expectEqual(try read.count(store.person.id), i + 1) }
    },
  ]
}
