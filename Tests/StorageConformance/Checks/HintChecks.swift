import Foundation
import StorageInterface
import StorageReference
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let hintChecks: [ConformanceCheck] = [
    ConformanceCheck("hintsNeverLoseAMatchingRow") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<2_500, $0) }
      try store.write { write in
        for key in Int64(1)...2_500 where key % 13 == 0 { try write.delete(store.person.id, ObjectKey(key)) }
        for key in Int64(700)...720 where key % 13 != 0 {
          try write.set(store.person.column(named: "age"), ObjectKey(key), word: 1_000_000)
        }
      }
      func check(_ tx: any StorageReading) throws {
        let bounds: [(Int64, Int64)] = [(0, 10), (49, 49), (1_000_000, 1_000_000), (.min, -1), (.min, .max), (60, 10)]
        for (low, high) in bounds {
          try checkHint(tx, store.person, "age", low, high)
          try checkHint(tx, store.person, "id", low, high)
        }
      }
      try store.read { try check($0) }
      try store.writeInVain { write in
        try write.set(store.person.column(named: "age"), ObjectKey(2_000), word: -77)
        try store.addPeople(2_500..<2_600, write)
        try check(write)
      }
    },
    ConformanceCheck("whereOnlyNullsAreAskedTheyAreTold") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        for id in 0..<1_500 {
          try write.insert(
            store.person,
            ["id": .int(Int64(id)), "email": id % 3 == 0 ? .null : .string("\(id)@example.org"),
              "photo": id % 5 == 0 ? .null : .data(Data(repeating: 7, count: id % 7 == 0 ? 3_000 : 20))])
        }
        for key in Int64(1)...1_500 where key % 11 == 0 { try write.delete(store.person.id, ObjectKey(key)) }
      }
      func check(_ tx: any StorageReading) throws {
        let columns = ["email", "photo", "id"].map { store.person.id($0) }
        var seen = 0
        try tx.scan(
          store.person.id, columns, from: ObjectKey(1), hints: [ZoneHint(presenceOf: 0), ZoneHint(presenceOf: 1)]
        ) { batch in
          for row in 0..<batch.count where batch.isLive(at: row) {
            let id = batch.columns[2].word(at: row)
            if batch.columns[0].isNull(at: row) == (id % 3 == 0), batch.columns[1].isNull(at: row) == (id % 5 == 0) { seen += 1 }
          }
          return .proceed
        }
        try expectEqual(seen, try tx.count(store.person.id))
      }
      try store.read { try check($0) }
      try store.writeInVain { write in
        // 1 has none, 3 has one.
        try write.set(store.person.column(named: "email"), ObjectKey(2), bytes: nil)
        try write.set(store.person.column(named: "id"), ObjectKey(2), word: 3_000)
        try write.set(store.person.column(named: "photo"), ObjectKey(2), bytes: nil)
        try check(write)
      }
    },
    ConformanceCheck("hintsOverDoublesDatesAndFloatsGoByOrdinals") { subject in
      let store = try ConformanceStore(subject)
      let doubles = Extremes.doubles + (0..<500).map { Double($0) / 7 - 20 }
      try store.write { write in
        for (i, double) in doubles.enumerated() {
          try write.insert(
            store.person,
            [
              "id": .int(Int64(i)), "score": .double(double), "weight": .float(Float(double)),
              "born": .date(Timestamp(secondsSinceReferenceDate: double)),
            ])
        }
      }
      try store.read { read in
        let bounds: [(Double, Double)] = [(0, 0), (-0.0, 0), (-20, -10), (1, .infinity), (-.infinity, -1e300), (0.1, 0.1)]
        for (low, high) in bounds {
          for name in ["score", "weight"] {
            try checkHint(read, store.person, name, ZoneHint.ordinal(of: low), ZoneHint.ordinal(of: high))
          }
          let dates = [low, high].map { Timestamp(secondsSinceReferenceDate: $0).word }
          try checkHint(read, store.person, "born", dates[0], dates[1])
        }
      }
    },
    ConformanceCheck("severalHintsMustAllHold") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<2_000, $0) }
      try store.read { read in
        let hints = [ZoneHint(column: 1, min: 100, max: 1_900), ZoneHint(column: 0, min: 10, max: 12)]
        let all = try read.allRows(store.person, ["age", "id"])
        let hinted = Set(try read.allRows(store.person, ["age", "id"], hints: hints).map(\.key))
        for row in all {
          guard let age = row.values[0].word, let id = row.values[1].word else { continue }
          if (10...12).contains(age), (100...1_900).contains(id) {
            try expect(hinted.contains(row.key), "the row \(row.key) is lost")
          }
        }
      }
    },
  ]

  /// Every row whose ordinal is within the bounds is delivered with its own values, and nothing else than rows is.
  private static func checkHint(
    _ tx: any StorageReading, _ table: TableEntry, _ name: String, _ low: Int64, _ high: Int64
  ) throws {
    let all = try tx.allRows(table, [name, "id"])
    let hinted = try tx.allRows(table, [name, "id"], hints: [ZoneHint(column: 0, min: low, max: high)])
    let delivered = Dictionary(uniqueKeysWithValues: hinted.map { ($0.key, $0.values) })
    var expected = 0
    let type = table[name]?.schema.valueType ?? .int64
    for row in all {
      if let given = delivered[row.key] { try expectEqual(given, row.values, "the row \(row.key) under a hint") }
      guard let ordinal = row.values[0].ordinal(type), low <= ordinal, ordinal <= high else { continue }
      expected += 1
      try expect(delivered[row.key] != nil, "the row \(row.key) with \(row.values[0]) is lost to \(low)...\(high) of \(name)")
    }
    try expect(hinted.count >= expected && hinted.count <= all.count, "\(hinted.count) rows of \(all.count)")
  }
}
