import StorageInterface
import StoreValues
import VivariumTestSupport

/// Rules of side entries, for engines that keep them.
extension StorageConformance {
  static let sideChecks: [ConformanceCheck] = [
    ConformanceCheck("aSideEntryIsReadAsItWasPut") { subject in
      guard let store = try SideStore(subject) else { return }
      let entries: [[UInt8]: [UInt8]] = [
        [0]: [1], [0, 0]: [], [255]: [0, 255, 0], [1, 2, 3]: [7], Array(repeating: 255, count: 480): [9],
        Array("key".utf8): (0..<100_000).map { UInt8(truncatingIfNeeded: $0 * $0) },
      ]
      try store.write { sides in
        for (key, value) in entries { try sides.setSide(key, value) }
        for (key, value) in entries { try expectEqual(try sides.side(key), value, "\(key.prefix(9)) in the write") }
      }
      try store.read { sides in
        for (key, value) in entries { try expectEqual(try sides.side(key), value, "\(key.prefix(9))") }
        for key in [[0, 0, 0], [1], [1, 2], [1, 2, 3, 0], [254]] as [[UInt8]] { try expectEqual(try sides.side(key), nil, "\(key)") }
      }
      try store.write { try $0.setSide([0], [2, 2]) }
      try store.write { sides in
        try sides.setSide([255], nil)
        try sides.setSide([77], nil)
        try expectEqual(try sides.side([255]), nil)
      }
      try store.read { sides in
        try expectEqual(try [[0], [255], [77]].map { try sides.side($0) }, [[2, 2], nil, nil])
      }
    },
    ConformanceCheck("sideEntriesAscendFromAStartToBelowAnEnd") { subject in
      guard let store = try SideStore(subject) else { return }
      let keys: [[UInt8]] = [[0], [0, 0], [0, 255], [1], [1, 0], [1, 0, 0], [1, 1], [127], [128], [255], [255, 255]]
      func check(_ sides: any SideReading) throws {
        for start in [[]] + keys + [[0, 1], [2], [255, 255, 255]] {
          for end in [nil, []] + keys + [[1, 0, 1], [200]] {
            let expected = keys.filter { !$0.precedes(start) && end.map($0.precedes) ?? true }
            try expectEqual(try sides.all(from: start, below: end).map(\.key), expected, "from \(start) below \(end ?? [])")
          }
        }
        var seen: [[UInt8]] = []
        try sides.sides(from: [1], below: nil) { key, value in
          seen.append(Array(key))
          return seen.count == 3 ? .stop : .proceed
        }
        try expectEqual(seen, [[1], [1, 0], [1, 0, 0]], "until it is stopped")
      }
      try store.write { sides in
        for key in keys.reversed() { try sides.setSide(key, key) }
        try check(sides)
      }
      try store.read { try check($0) }
      try store.writeInVain { try check($0) }
    },
    ConformanceCheck("aWriteSeesItsSideEntriesAmongThoseThatWereThere") { subject in
      guard let store = try SideStore(subject) else { return }
      var expected: [[UInt8]: [UInt8]] = [:]
      var random = SeededGenerator(seed: 5)
      for _ in 0..<6 {
        try store.write { sides in
          for step in 0..<60 {
            let key = [UInt8(random.below(40)), UInt8(random.below(2))]
            let value: [UInt8]? = random.oneIn(3) ? nil : [UInt8(step)]
            try sides.setSide(key, value)
            expected[key] = value
            if random.oneIn(9) { try expectSides(sides, expected, "in the write") }
          }
          try expectSides(sides, expected, "at the end of the write")
        }
        try store.read { try expectSides($0, expected, "after the commit") }
      }
    },
    ConformanceCheck("aSavepointUndoesSideEntries") { subject in
      guard let store = try SideStore(subject) else { return }
      try store.write { sides in
        try sides.beginSavepoint()
        try sides.setSide([1], [1])
        try sides.rollbackToSavepoint()
        try expectSides(sides, [:], "the very first one")
        try sides.setSide([1], [1])
        try sides.setSide([2], [2])
      }
      try store.write { sides in
        try sides.setSide([3], [3])
        try sides.beginSavepoint()
        try sides.setSide([1], [9])
        try sides.setSide([2], nil)
        try sides.setSide([3], nil)
        try sides.setSide([4], [4])
        try sides.beginSavepoint()
        try sides.setSide([2], [8])
        try sides.setSide([5], [5])
        try sides.releaseSavepoint()
        try expectSides(sides, [[1]: [9], [2]: [8], [4]: [4], [5]: [5]], "in the savepoint")
        try sides.rollbackToSavepoint()
        try expectSides(sides, [[1]: [1], [2]: [2], [3]: [3]], "after the rollback")
        try sides.beginSavepoint()
        try sides.setSide([6], [6])
        try sides.releaseSavepoint()
      }
      try store.read { try expectSides($0, [[1]: [1], [2]: [2], [3]: [3], [6]: [6]], "after the commit") }
    },
    ConformanceCheck("sideEntriesComeAndGoWithTheTransaction") { subject in
      guard let store = try SideStore(subject) else { return }
      try store.writeInVain { try $0.setSide([1], [1]) }
      try store.read { sides in
        try expectSides(sides, [:], "after a write in vain")
        try expect(!sides.catalog.hasSideEntries, "a write in vain made a place for side entries")
      }
      try store.write { try $0.setSide([1], [1]) }
      let old = try store.store.engine.beginRead()
      defer { old.end() }
      try store.write { sides in
        try sides.setSide([1], [2])
        try sides.setSide([2], [2])
        try store.read { try expectSides($0, [[1]: [1]], "before the commit") }
      }
      try expectSides(try unwrap(old.powers.sides, "side entries"), [[1]: [1]], "a snapshot of before")
      try store.writeInVain { try $0.setSide([1], nil) }
      try store.read { try expectSides($0, [[1]: [2], [2]: [2]], "the newest version") }
    },
    ConformanceCheck("sideEntriesOutliveTheEngine", needs: [.persistence]) { subject in
      guard let store = try SideStore(subject) else { return }
      try store.write { sides in
        try store.store.addPeople(0..<3, sides)
        for i in UInt8(1)...200 { try sides.setSide([i], Array(repeating: i, count: Int(i) * 20)) }
      }
      let again = try store.store.reopened()
      try again.read { read in
        let sides = try unwrap(read.powers.sides, "side entries")
        try expectEqual(try read.count(again.person.id), 3)
        try expectEqual(try sides.all().count, 200)
        try expectEqual(try sides.side([200]), Array(repeating: 200, count: 4_000))
      }
    },
    ConformanceCheck("aKeyOfNoSideEntryIsMisuse") { subject in
      guard let store = try SideStore(subject) else { return }
      try store.write { sides in
        for key in [[], Array(repeating: 1, count: 481)] as [[UInt8]] {
          try expectError(.misuse, .statement, "put") { try sides.setSide(key, [1]) }
          try expectError(.misuse, .statement, "take out") { try sides.setSide(key, nil) }
          try expectError(.misuse, .statement, "read") { try sides.side(key) }
        }
        try sides.setSide([1], [1])
      }
      try store.read { sides in
        try expectError(.misuse, .statement, "read") { try sides.side([]) }
        try expectSides(sides, [[1]: [1]], "the transaction went on")
      }
    },
    ConformanceCheck("aStoreWithoutSideEntriesHasNoPlaceForThem") { subject in
      guard let store = try SideStore(subject) else { return }
      try store.write { sides in
        try store.store.addPeople(0..<3, sides)
        try sides.setSide([1], nil)
        try expectSides(sides, [:], "in the write")
      }
      try store.read { sides in
        try expectSides(sides, [:], "after it")
        try expect(!sides.catalog.hasSideEntries, "there is a place for side entries, and nobody put one")
      }
    },
    ConformanceCheck("anotherCatalogLeavesSideEntriesAlone") { subject in
      guard let store = try SideStore(subject) else { return }
      let before = try store.read { $0.catalog }
      try store.write { try $0.setSide([1], [1]) }
      try store.store.engine.adopt(Schema(ConformanceStore.schema.objects + [ObjectSchema("Late", .scalar("name", .string))]))
      try store.read { sides in
        try expect(sides.catalog["Late"] != nil, "the new type is not there")
        try expectSides(sides, [[1]: [1]], "after the adoption")
      }
      try store.write { sides in
        try sides.setCatalog(before)
        try expect(sides.catalog.hasSideEntries, "a catalog of before took the place away")
        try sides.setSide([2], [2])
      }
      try store.read { try expectSides($0, [[1]: [1], [2]: [2]], "under a catalog of before") }
    },
    ConformanceCheck("noCommitRecordTellsOfSideEntries") { subject in
      guard let store = try SideStore(subject) else { return }
      let version = try store.read { $0.version }
      try store.write { try $0.setSide([1], [1]) }
      try store.read { sides in
        var records: [CommitRecord] = []
        try sides.history(after: version) { record in
          records.append(record)
          return .proceed
        }
        var expected = CommitRecord()
        expected.version = version.next
        try expectEqual(records, [expected])
      }
    },
    ConformanceCheck("whoIsLentSideEntriesMayReadAndEnd") { subject in
      guard let store = try SideStore(subject) else { return }
      try store.write { sides in
        try store.store.addPeople(0..<3, sides)
        for i in UInt8(1)...5 { try sides.setSide([i], [i, i]) }
      }
      func check(_ sides: any SideReading) throws {
        var seen: [[UInt8]] = []
        var failure: (any Error)?
        try sides.sides(from: [2], below: nil) { key, value in
          do {
            let inner = try sides.side([1])
            try expectEqual(inner, [1, 1])
            try expectEqual(try sides.all(from: [4], below: nil).count, 2)
            try expectEqual(try sides.count(store.store.person.id), 3)
          } catch {
            failure = error
          }
          seen.append(Array(key) + Array(value))
          if seen.count == 3 { sides.end() }
          return seen.count == 3 ? .stop : .proceed
        }
        if let failure { throw failure }
        try expectEqual(seen, [[2, 2, 2], [3, 3, 3], [4, 4, 4]])
        try expectError(.closed, nil, "read after the end") { try sides.side([1]) }
        try expectError(.closed, nil, "list after the end") { try sides.all() }
      }
      try store.read { try check($0) }
      try store.writeInVain { sides in
        try sides.setSide([4], [4, 4])
        try check(sides)
        try expectError(.closed, nil, "put after the end") { try sides.setSide([1], [1]) }
      }
    },
  ]

  /// The entries are these, one by one and in their order.
  static func expectSides(_ sides: any SideReading, _ expected: [[UInt8]: [UInt8]], _ what: String) throws {
    let shown = try sides.all()
    try expectEqual(shown.map(\.key), expected.keys.sorted { $0.precedes($1) }, "\(what), the keys")
    try expectEqual(shown.map(\.value), shown.map { expected[$0.key] ?? [] }, "\(what), the values")
    for (key, value) in expected { try expectEqual(try sides.side(key), value, "\(what), \(key)") }
  }
}

/// A store whose engine keeps side entries.
private struct SideStore {
  let store: ConformanceStore

  /// nil where the engine keeps none.
  init?(_ subject: ConformanceSubject) throws {
    store = try ConformanceStore(subject)
    guard try store.read({ $0.powers.sides }) != nil else { return nil }
  }

  func read<T>(_ body: (any SideReading) throws -> T) throws -> T {
    try store.read { try body(try unwrap($0.powers.sides, "side entries")) }
  }

  func write(_ body: (any SideWriting) throws -> Void) throws {
    try store.write { try body(try unwrap($0.writePowers.sides, "side entries of a write")) }
  }

  func writeInVain(_ body: (any SideWriting) throws -> Void) throws {
    try store.writeInVain { try body(try unwrap($0.writePowers.sides, "side entries of a write")) }
  }
}

extension SideReading {
  /// Entries as they are listed.
  func all(from start: [UInt8] = [], below end: [UInt8]? = nil) throws -> [(key: [UInt8], value: [UInt8])] {
    var result: [(key: [UInt8], value: [UInt8])] = []
    try sides(from: start, below: end) { key, value in
      result.append((Array(key), Array(value)))
      return .proceed
    }
    return result
  }
}

extension [UInt8] {
  fileprivate func precedes(_ other: [UInt8]) -> Bool { lexicographicallyPrecedes(other) }
}
