import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let indexChecks: [ConformanceCheck] = [
    ConformanceCheck("everyIndexIsInOrderOfValuesThenKeys") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(700, store, $0) }
      try store.read { try checkAllIndexes($0, store) }
      try store.write { try changeVaried(store, $0) }
      try store.read { try checkAllIndexes($0, store) }
      if subject.persists { try store.reopened().read { try checkAllIndexes($0, store) } }
    },
    ConformanceCheck("aWriteFindsWhatItWrote") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(300, store, $0) }
      try store.writeInVain { write in
        try checkAllIndexes(write, store)
        try changeVaried(store, write)
        try checkAllIndexes(write, store)
        try addVaried(40, store, write, from: 300)
        try checkAllIndexes(write, store)
      }
      try store.read { try checkAllIndexes($0, store) }
    },
    ConformanceCheck("descendingIsTheWholeSequenceBackwards") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(600, store, $0) }
      func check(_ tx: any StorageReading) throws {
        for index in store.person.indexes {
          let ascending = try tx.allKeys(in: index.id)
          try expectEqual(try tx.allKeys(in: index.id, descending: true), ascending.reversed(), "index \(index.id)")
        }
        let name = store.person.index("name")
        let range = IndexRange(lower: .excluding(.string("b")), upper: .including(.string("f")))
        try expectEqual(
          try tx.allKeys(in: name, range, descending: true), try tx.allKeys(in: name, range).reversed())
      }
      try store.read { try check($0) }
      try store.writeInVain { write in
        try changeVaried(store, write)
        try check(write)
      }
    },
    ConformanceCheck("anIndexOrdersEveryTypeByTheOneOrder") { subject in
      // Negative before positive, null first, then NaN, text by bytes, and so on.
      let store = try ConformanceStore(subject)
      try store.write { write in
        for i in 0..<30 {
          var values: [String: Value] = ["id": .int(Int64(i) * (i % 2 == 0 ? 1 : -1) &* 0x1234_5678_9ABC)]
          for (name, type) in [("age", ValueType.int64), ("score", .double), ("born", .date), ("photo", .data), ("tag", .uuid), ("weight", .float), ("isNice", .bool), ("name", .string)] {
            let extremes = Extremes.of(type)
            values[name] = name != "name" && i % 5 == 0 ? .null : extremes[i % extremes.count]
          }
          try insertIfUnique(store, values, write)
        }
      }
      try store.read { try checkAllIndexes($0, store) }
    },
    ConformanceCheck("entriesLeaveWithTheirObjects") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try addVaried(200, store, $0) }
      try store.write { write in
        for key in keys.dropFirst(3) { try write.delete(store.person.id, key) }
        try checkAllIndexes(write, store)
      }
      try store.read { read in
        try checkAllIndexes(read, store)
        for index in store.person.indexes { try expectEqual(try read.count(in: index.id, .all), 3, "\(index.id)") }
      }
    },
    ConformanceCheck("settingTheSameValueKeepsOneEntry") { subject in
      let store = try ConformanceStore(subject)
      let key = try store.write { try store.addPeople(0..<5, $0)[2] }
      let name = store.person.column(named: "name")
      try store.write { write in
        let value = try write.value(name, key)
        for _ in 0..<3 { try write.set(name, key, value) }
        try write.set(name, key, .string("elsewhere"))
        try write.set(name, key, value)
      }
      try store.read { read in
        try expectEqual(try read.allKeys(in: store.person.index("name"), IndexRange(equal: [.string("name 2")])), [3])
        try expectEqual(try read.count(in: store.person.index("name"), .all), 5)
      }
    },
    ConformanceCheck("keysStopWhenToldTo") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<3_000, $0) }
      try store.read { read in
        var blocks = 0
        try read.keys(in: store.person.index("name"), .all, descending: false) { _ in
          blocks += 1
          return .stop
        }
        try expectEqual(blocks, 1)
      }
    },
    ConformanceCheck("manyEqualEntriesAreFoundAll") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        for i in 0..<2_000 { try write.insert(store.person, ["id": .int(Int64(i)), "name": .string(i % 400 == 7 ? "rare" : "same")]) }
      }
      try store.read { read in
        let index = store.person.index("name")
        try expectEqual(try read.allKeys(in: index, IndexRange(equal: [.string("rare")])), [8, 408, 808, 1_208, 1_608])
        try expectEqual(try read.count(in: index, IndexRange(equal: [.string("same")])), 1_995)
        try expectEqual(try read.allKeys(in: index, IndexRange(equal: [.string("same")]), descending: true).first, 2_000)
      }
    },
    ConformanceCheck("longTextsAreOrderedToTheirEnds") { subject in
      let store = try ConformanceStore(subject)
      let long = String(repeating: "x", count: 5_000)
      let names = [long + "b", long + "a", long, long + "aa", String(long.dropLast()), long + "\0", "y", ""]
      try store.write { write in
        for (i, name) in names.enumerated() { try write.insert(store.person, ["id": .int(Int64(i)), "name": .string(name)]) }
      }
      try store.read { read in
        try checkAllIndexes(read, store)
        for (i, name) in names.enumerated() {
          try expectEqual(
            try read.allKeys(in: store.person.index("name"), IndexRange(equal: [.string(name)])), [Int64(i + 1)], "text \(i)")
        }
      }
    },
    ConformanceCheck("anIndexOverALinkFindsItsOwners") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        let keys = try store.addPeople(0..<10, write)
        for key in keys.dropFirst(4) { try write.set(store.person.column(named: "best"), key, .link(keys[key.rawValue % 2 == 0 ? 0 : 1])) }
      }
      try store.read { read in
        let index = store.person.index("best")
        try expectEqual(try read.allKeys(in: index, IndexRange(equal: [.link(ObjectKey(1))])), [6, 8, 10])
        try expectEqual(try read.allKeys(in: index, IndexRange(equal: [.null])), [1, 2, 3, 4])
      }
    },
    ConformanceCheck("theKeyOfAUniqueValueIsFound") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try store.addPeople(100..<200, $0) }
      try store.read { read in
        for (i, key) in keys.enumerated() {
          try expectEqual(try read.key(in: store.person.index("id"), equal: [.int(Int64(100 + i))]), key)
          try expectEqual(try read.key(in: store.person.index("id"), equalTo: Int64(100 + i)), key)
        }
        for number in [99, 200, .min, .max] as [Int64] { try expectEqual(try read.key(in: store.person.index("id"), equalTo: number), nil) }
        try expectEqual(try read.key(in: store.person.index("id"), equal: [.int(99)]), nil)
        try expectEqual(try read.key(in: store.person.index("id"), equal: [.int(.min)]), nil)
      }
      // What an open write has changed is found too.
      try store.writeInVain { write in
        try write.delete(store.person.id, keys[7])
        let added = try store.addPeople(500..<501, write)
        try expectEqual(try write.key(in: store.person.index("id"), equalTo: 107), nil)
        try expectEqual(try write.key(in: store.person.index("id"), equalTo: 108), keys[8])
        try expectEqual(try write.key(in: store.person.index("id"), equalTo: 500), added[0])
      }
    },
    ConformanceCheck("entriesOfANumberAreCountedAsTheirRunIs") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(2_100, store, $0) }
      func check(_ tx: any StorageReading) throws {
        for index in store.person.indexes where index.properties.count == 1 {
          for number in [-20, -1, 0, 1, 2, 7, 50, .min, .max] as [Int64] {
            let run = try tx.count(in: index.id, IndexRange(equal: [.int(number)]))
            try expectEqual(try tx.count(in: index.id, equalTo: number), run)
          }
        }
      }
      try store.read { try check($0) }
      try store.writeInVain { write in
        try changeVaried(store, write)
        try check(write)
      }
    },
  ]

  /// People whose indexed values are of all sorts; unique ones differ.
  @discardableResult
  static func addVaried(
    _ count: Int, _ store: ConformanceStore, _ write: any WriteTransaction, from first: Int = 0
  ) throws -> [ObjectKey] {
    var random = SeededGenerator(seed: UInt64(first + 3))
    return try (first..<first + count).map { i in
      try write.insert(
        store.person,
        [
          "id": .int(Int64(i * 7_919 % 10_007)), "name": .string(["", "a", "ab", "b", "é", "z"][random.below(6)] + "\(i % 3)"),
          "age": random.oneIn(4) ? .null : .int(Int64(random.below(40)) - 20),
          "email": random.oneIn(3) ? .null : .string("\(i)@example.org"),
          "score": random.oneIn(4) ? .null : .double([-1.5, -0.0, 0, .nan, 2.25, .infinity][random.below(6)]),
          "born": random.oneIn(4) ? .null : .date(TimestampSamples.any(&random)),
          "tag": random.oneIn(2) ? .null : Extremes.uuids[random.below(4)],
          "photo": random.oneIn(2) ? .null : .data(Data([UInt8(random.below(256)), 0])),
          "weight": random.oneIn(3) ? .null : .float([-.infinity, -2, 0, 0.5, .nan][random.below(5)]),
          "rank": .int(Int64(i)),
        ])
    }
  }

  static func changeVaried(_ store: ConformanceStore, _ write: any WriteTransaction) throws {
    var random = SeededGenerator(seed: 11)
    for (key, _) in try write.allRows(store.person, []) {
      let key = ObjectKey(key)
      switch random.below(6) {
      case 0: try write.delete(store.person.id, key)
      case 1: try write.set(store.person.column(named: "name"), key, .string("new \(random.below(5))"))
      case 2: try write.set(store.person.column(named: "age"), key, random.oneIn(3) ? .null : .int(Int64(random.below(9))))
      case 3: try write.set(store.person.column(named: "score"), key, .double([-0.0, 0, 7][random.below(3)]))
      case 4: try write.set(store.person.column(named: "born"), key, .null)
      default: break
      }
    }
  }

  private static func insertIfUnique(
    _ store: ConformanceStore, _ values: [String: Value], _ write: any WriteTransaction
  ) throws {
    do { try write.insert(store.person, values) } catch {
      guard error.code == .uniqueViolation else { throw error }
    }
  }

  /// Every index of Person holds every object once, in the order that the values and keys say.
  static func checkAllIndexes(_ tx: any StorageReading, _ store: ConformanceStore) throws {
    for index in store.person.indexes {
      let names = index.properties.compactMap { store.person[$0]?.schema.name }
      let rows = try tx.allRows(store.person, names)
      let expected = rows.sorted { a, b in
        for (x, y) in zip(a.values, b.values) {
          let order = x.order(to: y)
          if order != .same { return order == .before }
        }
        return a.key < b.key
      }
      try expectEqual(try tx.allKeys(in: index.id), expected.map(\.key), "the index over \(names)")
      try expectEqual(try tx.count(in: index.id, .all), rows.count, "count in the index over \(names)")
    }
  }
}
