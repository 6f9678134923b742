import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let openingChecks: [ConformanceCheck] = [
    ConformanceCheck("backendAndEngineSayWhatTheyAre") { subject in
      let backend = try subject.makeBackend()
      let engine = try backend.open(OpenOptions())
      try expect(!backend.kind.isEmpty && engine.kind == backend.kind, "kinds '\(backend.kind)' and '\(engine.kind)'")
      try expect(!backend.location.isEmpty, "the location is empty")
    },
    ConformanceCheck("makingABackendTouchesNothing") { subject in
      let backend = try subject.makeBackend()
      try expect(!backend.isPresent(), "there is a store that nobody made")
      try expectError(.fileNotFound, nil, "open without creating") { try backend.open(OpenOptions(createsIfMissing: false)) }
      try expectError(.fileNotFound, nil, "open for reading alone") { try backend.open(OpenOptions(isReadOnly: true)) }
      try expect(!backend.isPresent(), "a refused open made a store")
      // Held: a store in memory is gone with its last reference.
      let engine = try backend.open(OpenOptions())
      try expect(backend.isPresent(), "an open store is not present")
      engine.close()
    },
    ConformanceCheck("openingTwiceGivesOneEngine") { subject in
      let backend = try subject.makeBackend()
      let first = try backend.open(OpenOptions())
      let second = try backend.open(OpenOptions(historyLimit: 5))
      try expect(first === second, "two engines for one store")
    },
    ConformanceCheck("openingOnManyThreadsGivesOneEngine") { subject in
      let backend = try subject.makeBackend()
      let openers = (0..<6).map { _ in Background { try backend.open(OpenOptions()) } }
      let engines = try openers.map { try $0.wait() }
      for engine in engines { try expect(engine === engines[0], "two engines for one store") }
    },
    ConformanceCheck("aStoreThatIsOpenIsNotRemoved") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try $0.insert(store.pet) }
      try expectError(.alreadyOpen, nil, "remove") { try store.backend.remove() }
      try expectEqual(try store.read { try $0.count(store.pet.id) }, 1)
      try store.write { try $0.insert(store.pet) }
    },
    ConformanceCheck("aRemovedStoreIsGone") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try $0.insert(store.pet) }
      store.engine.close()
      try store.backend.remove()
      try expect(!store.backend.isPresent(), "a removed store is present")
      try expectError(.fileNotFound, nil, "open") { try store.backend.open(OpenOptions(createsIfMissing: false)) }
      let new = try store.backend.open(OpenOptions())
      try expectEqual(try new.latestVersion(), Version(0))
      try expectEqual(try new.beginRead().catalog, Catalog())
    },
    ConformanceCheck("everythingIsThereAfterReopening", needs: [.persistence]) { subject in
      var store = try ConformanceStore(subject)
      let keys = try store.write { try addVaried(1_200, store, $0) }
      try store.write { try changeVaried(store, $0) }
      try store.write { try editLists(store, Array(keys.prefix(100)), $0) }
      let before = try store.read { (try Picture($0), $0.version, $0.catalog, try $0.allVersions(after: 0)) }
      for _ in 0..<2 {
        store = try store.reopened()
        let after = try store.read { (try Picture($0), $0.version, $0.catalog, try $0.allVersions(after: 0)) }
        try expectSame(after.0, before.0, "after reopening")
        try expectEqual(after.1, before.1)
        try expectEqual(after.2, before.2)
        try expectEqual(after.3, before.3)
        try expectEqual(try store.engine.latestVersion(), before.1)
      }
      try store.write { try changeVaried(store, $0) }
      try store.read { try checkAllIndexes($0, store) }
    },
    ConformanceCheck("anEngineClosesWithItsLastReference", needs: [.persistence]) { subject in
      let backend = try subject.makeBackend()
      func use() throws {
        let store = try ConformanceStore(subject, backend)
        try store.write { try $0.insert(store.pet) }
        _ = try store.engine.beginWrite(.never).insert(store.pet)
      }
      try use()
      try use()
      let store = try ConformanceStore(subject, backend)
      try expectEqual(try store.read { try $0.count(store.pet.id) }, 2)
    },
    ConformanceCheck("aStoreOpenForReadingAloneReadsAndDoesNotWrite", needs: [.persistence]) { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<20, $0) }
      let picture = try store.read { try Picture($0) }
      let reader = try store.reopened(OpenOptions(isReadOnly: true))
      try expectError(.readOnly, nil, "beginWrite") { try reader.engine.beginWrite(.never) }
      try expectSame(try reader.read { try Picture($0) }, picture, "read-only")
      try expectError(.readOnly, nil, "beginWrite again") { try reader.engine.beginWrite(.after(.zero)) }
      let writer = try reader.reopened()
      try writer.write { try $0.insert(writer.pet) }
    },
    ConformanceCheck("whoWantsToWriteGetsNoEngineThatReadsAlone", needs: [.persistence]) { subject in
      let reader = try ConformanceStore(subject).reopened(OpenOptions(isReadOnly: true))
      try expectError(.alreadyOpen, nil, "open for writing") { try reader.backend.open(OpenOptions()) }
      let again = try reader.backend.open(OpenOptions(isReadOnly: true))
      try expect(again === reader.engine, "another engine for reading")
      let writer = try reader.reopened()
      try writer.write { try $0.insert(writer.pet) }
    },
    ConformanceCheck("whoOpensForReadingAloneNeverWritesThoughTheStoreIsOpenForWriting", needs: [.persistence]) { subject in
      let store = try ConformanceStore(subject)
      try store.write { try $0.insert(store.pet) }
      let reader = try store.backend.open(OpenOptions(isReadOnly: true))
      try expectError(.readOnly, nil, "beginWrite") { try reader.beginWrite(.after(.zero)) }
      if let space = reader.powers.space {
        try expectError(.readOnly, nil, "reclaimSpace") { try space.reclaimSpace(.after(.zero)) }
      }
      // It reads what the other writes, and closing one leaves the other open.
      try store.write { try $0.insert(store.pet) }
      let read = try reader.beginRead()
      try expectEqual(try read.count(store.pet.id), 2)
      read.end()
      reader.close()
      try store.write { try $0.insert(store.pet) }
      let again = try store.backend.open(OpenOptions(isReadOnly: true))
      store.engine.close()
      try expectError(.readOnly, nil, "beginWrite after the writer has gone") { try again.beginWrite(.after(.zero)) }
      let last = try again.beginRead()
      try expectEqual(try last.count(store.pet.id), 3)
      last.end()
    },
    ConformanceCheck("aWriteThatWasOpenAtTheEndLeavesNothing", needs: [.persistence]) { subject in
      let store = try ConformanceStore(subject)
      try store.write { try $0.insert(store.pet) }
      let write = try store.engine.beginWrite(.never)
      try store.addPeople(0..<2_000, write)
      write.end()
      let again = try store.reopened()
      try again.read { read in
        try expectEqual(try read.count(store.person.id), 0)
        try expectEqual(try read.count(store.pet.id), 1)
      }
    },
  ]
}
