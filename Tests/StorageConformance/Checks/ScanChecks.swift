import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let scanChecks: [ConformanceCheck] = [
    ConformanceCheck("aScanGivesEveryRowOnceInOrderOfKeys") { subject in
      let store = try ConformanceStore(subject)
      for size in [0, 1, 2, 63, 64, 65] { try store.write { try addMore(size, store, $0) } }
      try checkAgainstPoints(store, ["id", "name", "age", "email", "score", "best", "rank", "isNice", "tag", "weight"])
    },
    ConformanceCheck("aScanOfThousandsOfRowsAgreesWithPointReads") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<3_000, $0) }
      try store.write { write in
        for key in Int64(1)...3_000 where key % 7 == 2 || (500...1_700).contains(key) {
          try write.delete(store.person.id, ObjectKey(key))
        }
      }
      try store.write { write in
        for key in Int64(1)...3_000 where try key % 11 == 4 && write.contains(store.person.id, ObjectKey(key)) {
          try write.set(store.person.column(named: "name"), ObjectKey(key), .string("changed \(key)"))
          try write.set(store.person.column(named: "age"), ObjectKey(key), .null)
        }
      }
      try checkAgainstPoints(store, ["id", "name", "age", "score"])
    },
    ConformanceCheck("aScanStartsWhereItIsTold") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<500, $0) }
      try store.write { write in
        for key in Int64(100)...200 { try write.delete(store.person.id, ObjectKey(key)) }
      }
      let living = (Int64(1)...500).filter { !(100...200).contains($0) }
      try store.read { read in
        for start in [Int64.min, -1, 0, 1, 2, 64, 99, 100, 150, 200, 201, 499, 500, 501, 10_000, Int64.max] {
          let rows = try read.allRows(store.person, ["id"], from: ObjectKey(start))
          try expectEqual(rows.map(\.key), living.filter { $0 >= start }, "keys from \(start)")
          try expectEqual(rows.map { $0.values[0] }, rows.map { .int($0.key - 1) }, "ids from \(start)")
        }
      }
    },
    ConformanceCheck("aScanStopsWhenToldTo") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<4_500, $0) }
      try store.read { read in
        var batches = 0
        try read.scan(store.person.id, [store.person.id("id")], from: ObjectKey(0), hints: []) { _ in
          batches += 1
          return .stop
        }
        try expectEqual(batches, 1)
      }
    },
    ConformanceCheck("aScanWithoutColumnsGivesKeys") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<1_500, $0) }
      try store.write { write in
        for key in Int64(1)...1_500 where key % 5 == 0 { try write.delete(store.person.id, ObjectKey(key)) }
      }
      try store.read { read in
        try expectEqual(try read.allRows(store.person, []).map(\.key), (Int64(1)...1_500).filter { $0 % 5 != 0 })
      }
    },
    ConformanceCheck("aColumnMayBeAskedForTwiceAndInAnyOrder") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<100, $0) }
      try store.read { read in
        let rows = try read.allRows(store.person, ["name", "id", "name", "age", "id"])
        try expectEqual(rows.count, 100)
        for row in rows {
          let values = ConformanceStore.values(ofPerson: Int(row.key) - 1)
          let (name, id) = (values["name"] ?? .null, values["id"] ?? .null)
          try expectEqual(row.values, [name, id, name, values["age"] ?? .null, id])
        }
      }
    },
    ConformanceCheck("anEmptyTableHasNoBatches") { subject in
      let store = try ConformanceStore(subject)
      try expectEqual(try store.read { try $0.allRows(store.person, ["name"]).count }, 0)
      try store.write { write in
        for key in try store.addPeople(0..<200, write) { try write.delete(store.person.id, key) }
        try expectEqual(try write.allRows(store.person, ["name"]).count, 0)
      }
      try expectEqual(try store.read { try $0.allRows(store.person, ["name"]).count }, 0)
    },
    ConformanceCheck("aWriteScansWhatItWrote") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<400, $0) }
      try store.writeInVain { write in
        try store.addPeople(400..<700, write)
        for key in Int64(50)...80 { try write.delete(store.person.id, ObjectKey(key)) }
        for key in Int64(300)...500 { try write.set(store.person.column(named: "rank"), ObjectKey(key), word: -key) }
        let rows = try write.allRows(store.person, ["rank", "id"])
        try expectEqual(rows.map(\.key), (Int64(1)...700).filter { !(50...80).contains($0) })
        for row in rows {
          let rank = (300...500).contains(row.key) ? -row.key : (row.key - 1) * 3
          try expectEqual(row.values, [.int(rank), .int(row.key - 1)], "row \(row.key)")
        }
      }
      try expectEqual(try store.read { try $0.allRows(store.person, ["rank"]).count }, 400)
    },
    ConformanceCheck("everyTypeScansAsItReads") { subject in
      let store = try ConformanceStore(subject)
      var random = SeededGenerator(seed: 20)
      let names = store.zoo.columns.filter { $0.schema.isScalar }.map(\.schema.name)
      try store.write { write in
        try store.addPeople(0..<2, write)
        for _ in 0..<700 {
          var values: [String: Value] = [:]
          for column in store.zoo.columns {
            guard case .scalar(let type) = column.schema.kind, !random.oneIn(3) else { continue }
            values[column.schema.name] = Extremes.of(type).randomElement(using: &random)
          }
          try write.insert(store.zoo, values)
        }
      }
      try store.read { read in
        let rows = try read.allRows(store.zoo, names)
        try expectEqual(rows.count, 700)
        for row in rows {
          for (name, value) in zip(names, row.values) {
            try expectEqual(value, try read.value(store.zoo, name, ObjectKey(row.key)), "\(name) of \(row.key)")
          }
        }
      }
    },
  ]

  private static func addMore(_ count: Int, _ store: ConformanceStore, _ write: any WriteTransaction) throws {
    let start = try write.count(store.person.id)
    try store.addPeople(start..<start + count, write)
  }

  /// Compares a scan with point reads, in a snapshot and in a write.
  private static func checkAgainstPoints(_ store: ConformanceStore, _ names: [String]) throws {
    func check(_ tx: any StorageReading) throws {
      let rows = try tx.allRows(store.person, names)
      try expectEqual(rows.count, try tx.count(store.person.id), "rows of the scan")
      for row in rows {
        try expect(try tx.contains(store.person.id, ObjectKey(row.key)), "row \(row.key) does not live")
        for (name, value) in zip(names, row.values) {
          try expectEqual(value, try tx.value(store.person, name, ObjectKey(row.key)), "\(name) of \(row.key)")
        }
      }
    }
    try store.read { try check($0) }
    try store.writeInVain { try check($0) }
  }
}
