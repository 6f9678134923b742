import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  /// Of engines that can take a history over.
  static let adoptionChecks: [ConformanceCheck] = [
    ConformanceCheck("aHistoryIsTakenOverInOneCommit") { subject in
      let store = try ConformanceStore(subject)
      for _ in 0..<3 { try store.write { try $0.insert(store.pet) } }
      let write = try store.engine.beginWrite(.never)
      guard let adopting = write.writePowers.history else { return write.end() }
      try write.insert(store.pet, ["name": .string("taken over")])
      let records = (990...1_000).map { number in
        var record = CommitRecord(author: "\(number)", origin: UInt64(number))
        record.version = Version(UInt64(number))
        return record
      }
      try expectEqual(try adopting.commit(adopting: records, .full), Version(1_000))
      func check(_ store: ConformanceStore) throws {
        try expectEqual(try store.engine.latestVersion(), Version(1_000))
        try store.read { read in
          try expectEqual(read.version, Version(1_000))
          try expectEqual(try read.count(store.pet.id), 4)
          var authors: [String?] = []
          try read.history(after: Version(989)) { record in
            authors.append(record.author)
            return .proceed
          }
          try expectEqual(authors, (990...1_000).map { "\($0)" })
          for version: UInt64 in [0, 2, 4, 988] {
            try expectError(.historyTrimmed, .statement, "history after \(version)") {
              try read.history(after: Version(version)) { _ in .proceed }
            }
          }
        }
      }
      try check(store)
      let again = subject.persists ? try store.reopened() : store
      try check(again)
      // Versions go on from there, and so do catalogs.
      try again.write { try $0.insert(again.pet) }
      try expectEqual(try again.engine.latestVersion(), Version(1_001))
      try expectEqual(try again.read { try $0.count(again.pet.id) }, 5)
    },
    ConformanceCheck("aCatalogThatComesWithAHistoryIsRead") { subject in
      let engine = try subject.makeBackend().open(OpenOptions(historyLimit: 4))
      let write = try engine.beginWrite(.never)
      guard let adopting = write.writePowers.history else { return write.end() }
      let catalog = try write.catalog.adopting(ConformanceStore.schema).catalog
      try write.setCatalog(catalog)
      let pet = try unwrap(catalog["Pet"], "table Pet")
      try write.insert(pet)
      let records = (5...20).map { number in
        var record = CommitRecord(changedCatalog: number == 5)
        record.version = Version(UInt64(number))
        return record
      }
      _ = try adopting.commit(adopting: records, .relaxed)
      for expected in 1...3 {
        let read = try engine.beginRead()
        try expectEqual(read.catalog, catalog)
        try expectEqual(try read.count(pet.id), expected)
        read.end()
        try engine.write { try $0.insert(pet) }
      }
      // As many as the store keeps.
      let read = try engine.beginRead()
      try expectError(.historyTrimmed, .statement, "history") { try read.history(after: Version(15)) { _ in .proceed } }
      read.end()
      engine.close()
    },
    ConformanceCheck("whatIsNoHistoryIsNotTakenOver") { subject in
      let store = try ConformanceStore(subject)
      func record(_ version: UInt64) -> CommitRecord {
        var record = CommitRecord()
        record.version = Version(version)
        return record
      }
      for records in [[], [record(1)], [record(8), record(10)], [record(9), record(8)]] {
        let write = try store.engine.beginWrite(.never)
        guard let adopting = write.writePowers.history else { return write.end() }
        try expectError(.misuse, .transaction, "commit") { try adopting.commit(adopting: records, .relaxed) }
        try expectError(.closed, nil, "count") { try write.count(store.pet.id) }
      }
      try expectEqual(try store.engine.latestVersion(), Version(1))
    },
  ]
}
