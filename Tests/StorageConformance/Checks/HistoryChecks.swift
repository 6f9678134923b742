import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let historyChecks: [ConformanceCheck] = [
    ConformanceCheck("commitRecordsComeBackWhole") { subject in
      let store = try ConformanceStore(subject)
      let start = try store.engine.latestVersion()
      let records = sampleRecords(store)
      for record in records {
        let write = try store.engine.beginWrite(.never)
        try write.insert(store.pet)
        _ = try write.commit(record, .relaxed)
      }
      let again = subject.persists ? try store.reopened() : store
      try again.read { read in
        var got: [CommitRecord] = []
        try read.history(after: start) { record in
          got.append(record)
          return .proceed
        }
        try expectEqual(got.count, records.count)
        for (i, (actual, given)) in zip(got, records).enumerated() {
          var expected = given
          expected.version = Version(start.rawValue + UInt64(i) + 1)
          try expectEqual(actual, expected, "record \(i)")
        }
      }
    },
    ConformanceCheck("historyIsThatOfTheVersionRead") { subject in
      let store = try ConformanceStore(subject)
      for _ in 0..<5 { try store.write { try $0.insert(store.pet) } }
      let read = try store.engine.beginRead()
      let version = read.version.rawValue
      for _ in 0..<5 { try store.write { try $0.insert(store.pet) } }
      try expectEqual(try read.allVersions(after: version - 3), [version - 2, version - 1, version])
      try expectEqual(try read.allVersions(after: 0), Array(1...version))
      try expectEqual(try read.allVersions(after: version), [])
      try expectEqual(try read.allVersions(after: version + 3), [])
      try expectEqual(try read.allVersions(after: UInt64.max), [])
      try expectEqual(try store.read { try $0.allVersions(after: version) }, Array(version + 1...version + 5))
      try store.writeInVain { write in
        try write.insert(store.pet)
        try expectEqual(try write.allVersions(after: version), Array(version + 1...version + 5), "in a write")
      }
    },
    ConformanceCheck("historyStopsWhenToldTo") { subject in
      let store = try ConformanceStore(subject)
      for _ in 0..<10 { try store.write { try $0.insert(store.pet) } }
      try store.read { read in
        var seen: [UInt64] = []
        try read.history(after: Version(2)) { record in
          seen.append(record.version.rawValue)
          return seen.count == 3 ? .stop : .proceed
        }
        try expectEqual(seen, [3, 4, 5])
      }
    },
    ConformanceCheck("aRolledBackWriteLeavesNoRecord") { subject in
      let store = try ConformanceStore(subject)
      try store.writeInVain { try $0.insert(store.pet) }
      try store.write { try $0.insert(store.pet) }
      try expectEqual(try store.read { try $0.allVersions(after: 0) }, [1, 2])
    },
    ConformanceCheck("authorAndOriginAreKept") { subject in
      let store = try ConformanceStore(subject)
      let start = try store.engine.latestVersion()
      let authors: [String?] = [nil, "", "import", "a\0b", String(repeating: "é", count: 300)]
      for (i, author) in authors.enumerated() {
        let write = try store.engine.beginWrite(.never)
        _ = try write.commit(CommitRecord(author: author, origin: UInt64.max - UInt64(i), timeMilliseconds: -1), .relaxed)
      }
      try store.read { read in
        var got: [CommitRecord] = []
        try read.history(after: start) { record in
          got.append(record)
          return .proceed
        }
        try expectEqual(got.map(\.author), authors)
        try expectEqual(got.map(\.origin), (0..<authors.count).map { UInt64.max - UInt64($0) })
        try expectEqual(Set(got.map(\.timeMilliseconds)), [-1])
      }
    },
    ConformanceCheck("theHistoryKeepsAtLeastItsLimit") { subject in
      let store = try ConformanceStore(subject, OpenOptions(historyLimit: 10))
      for _ in 0..<60 { try store.write { try $0.insert(store.pet) } }
      try store.read { read in
        let version = read.version.rawValue
        try expectEqual(try read.allVersions(after: version - 10), Array(version - 9...version))
      }
    },
    ConformanceCheck("aTrimmedHistorySaysSo") { subject in
      let store = try ConformanceStore(subject, OpenOptions(historyLimit: 2))
      for _ in 0..<1_500 { try store.write { _ in } }
      try store.read { read in
        let version = read.version.rawValue
        let kept = try unwrap(try store.engine.statistics().historyVersions, "history in the statistics")
        try expectEqual(kept.upperBound, version)
        try expect(kept.lowerBound > 1, "nothing was trimmed in 1,500 commits")
        try expectError(.historyTrimmed, .statement, "history after 0") { try read.allVersions(after: 0) }
        try expectEqual(try read.allVersions(after: version - 2), [version - 1, version], "after the error")
        try expectEqual(try read.allVersions(after: kept.lowerBound - 1), Array(kept))
      }
    },
  ]

  private static func sampleRecords(_ store: ConformanceStore) -> [CommitRecord] {
    let properties = PropertySet([PropertyID(1), PropertyID(63), PropertyID(64), PropertyID(200)])
    return [
      CommitRecord(),
      CommitRecord(author: "importer", origin: 0xDEAD_BEEF_0000_0001, timeMilliseconds: 1_700_000_000_123, changedCatalog: true),
      CommitRecord(tables: [
        TableChange(
          table: store.person.id, inserted: KeyRuns(1...1_000_000), deleted: KeyRuns([2_000_000, 2_000_007]),
          modified: [ModifiedObject(key: ObjectKey(3_000_000), properties: properties)],
          lists: [
            ListChange(
              owner: ObjectKey(3_000_000), property: PropertyID(14),
              edits: [.insert(at: 0, count: 3), .remove(1..<2), .set(at: 0), .move(from: 1, to: 0), .clear])
          ]),
        TableChange(table: store.pet.id, inserted: KeyRuns([Int64.max - 1])),
      ]),
      CommitRecord(
        author: "big",
        tables: [TableChange(table: store.zoo.id, modified: (1...5_000).map { ModifiedObject(key: ObjectKey($0 * 3), properties: properties) })]),
    ]
  }
}
