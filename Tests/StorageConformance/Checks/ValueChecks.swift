import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let valueChecks: [ConformanceCheck] =
    ValueType.allCases.map { type in
      ConformanceCheck("insertedExtremesComeBackBitForBit(\(type.rawValue))") { subject in
        try roundTrip(type, subject) { store, write, name, value in
          try write.insert(store.zoo, [name: value])
        }
      }
    }
    + ValueType.allCases.map { type in
      ConformanceCheck("setExtremesComeBackBitForBit(\(type.rawValue))") { subject in
        try roundTrip(type, subject) { store, write, name, value in
          let key = try write.insert(store.zoo)
          try write.set(store.zoo.column(named: name), key, value)
          return key
        }
      }
    }
    + ValueType.allCases.map { type in
      ConformanceCheck("listsKeepExtremesBitForBit(\(type.rawValue))") { try listRoundTrip(type, $0) }
    }
    + [
      ConformanceCheck("nullAndEmptyStayApart") { subject in
        let store = try ConformanceStore(subject)
        let keys = try store.write { write in
          try [Value.null, .string("")].map { try write.insert(store.zoo, ["stringMaybe": $0]) }
            + [Value.null, .data(Data())].map { try write.insert(store.zoo, ["dataMaybe": $0]) }
        }
        try store.read { read in
          try expectEqual(try read.value(store.zoo, "stringMaybe", keys[0]), .null)
          try expectEqual(try read.value(store.zoo, "stringMaybe", keys[1]), .string(""))
          try expectEqual(try read.value(store.zoo, "dataMaybe", keys[2]), .null)
          try expectEqual(try read.value(store.zoo, "dataMaybe", keys[3]), .data(Data()))
        }
      },
      ConformanceCheck("aMegabyteComesBackWhole") { subject in
        let store = try ConformanceStore(subject)
        let text = String(repeating: "0123456789abcdef", count: 65_536)
        let keys = try store.write { write in
          let first = try write.insert(store.zoo, ["data": .data(Extremes.megabyte), "string": .string(text)])
          let second = try write.insert(store.zoo, ["int8": .int(7)])
          try write.set(store.zoo.column(named: "dataMaybe"), second, .data(Extremes.megabyte))
          return [first, second]
        }
        try store.read { read in
          try expect(try read.value(store.zoo, "data", keys[0]) == .data(Extremes.megabyte), "inserted data differ")
          try expect(try read.value(store.zoo, "string", keys[0]) == .string(text), "the inserted text differs")
          try expect(try read.value(store.zoo, "dataMaybe", keys[1]) == .data(Extremes.megabyte), "set data differ")
          let rows = try read.allRows(store.zoo, ["data", "string", "dataMaybe"])
          try expect(rows.count == 2 && rows[0].values[0] == .data(Extremes.megabyte), "scanned data differ")
          try expect(rows[0].values[1] == .string(text), "the scanned text differs")
          try expect(rows[1].values[2] == .data(Extremes.megabyte), "scanned set data differ")
        }
      },
      ConformanceCheck("longAndShortValuesTakeEachOthersPlace") { subject in
        let store = try ConformanceStore(subject)
        let column = store.zoo.column(named: "dataMaybe")
        let lengths = [0, 100_000, 3, 1_024, 1_025, 20_000, 1, 300_000, 0]
        let key = try store.write { try $0.insert(store.zoo) }
        for length in lengths {
          let data = Value.data(Data(repeating: UInt8(length % 251), count: length))
          try store.write { write in
            try write.set(column, key, data)
            try expect(try write.value(column, key) == data, "the write sees other data than \(length) bytes")
          }
          try expect(try store.read { try $0.value(column, key) } == data, "\(length) bytes came back otherwise")
        }
        try store.write { try $0.set(column, key, .null) }
        try expectEqual(try store.read { try $0.value(column, key) }, .null)
      },
      ConformanceCheck("whatIsNotSetReadsAsAbsent") { subject in
        let store = try ConformanceStore(subject)
        let key = try store.write { try $0.insert(store.zoo) }
        try store.read { read in
          for column in store.zoo.columns where column.schema.isScalar {
            try expectEqual(
              try read.value(store.zoo.column(column.id), key), column.absentValue, column.schema.name)
          }
          for column in store.zoo.columns where column.schema.isList {
            try expectEqual(try read.elementCount(store.zoo.column(column.id), key), 0, column.schema.name)
          }
        }
      },
      ConformanceCheck("aRowBufferCanBeUsedAgain") { subject in
        let store = try ConformanceStore(subject)
        let row = RowBuffer(store.pet)
        let slot = try unwrap(store.pet.slot(of: store.pet.id("name")), "slot of name")
        let keys = try store.write { write in
          try (0..<50).map { i in
            row.reset()
            if i % 2 == 0 { row.set(slot, .string("pet \(i)")) }
            return try write.insert(row)
          }
        }
        try store.read { read in
          for (i, key) in keys.enumerated() {
            try expectEqual(try read.value(store.pet, "name", key), .string(i % 2 == 0 ? "pet \(i)" : ""))
          }
        }
      },
    ]

  private static func roundTrip(
    _ type: ValueType, _ subject: ConformanceSubject,
    _ put: (ConformanceStore, any WriteTransaction, String, Value) throws -> ObjectKey
  ) throws {
    let store = try ConformanceStore(subject)
    var put1: [(ObjectKey, String, Value)] = []
    try store.write { write in
      try store.addPeople(0..<2, write)
      for value in Extremes.of(type) { put1.append((try put(store, write, type.rawValue, value), type.rawValue, value)) }
      let optional = type == .link ? "link" : "\(type.rawValue)Maybe"
      for value in Extremes.of(type) + [.null] { put1.append((try put(store, write, optional, value), optional, value)) }
      for (key, name, value) in put1 {
        try expectEqual(try write.value(store.zoo, name, key), value, "in the write, \(name)")
      }
    }
    var stores = [store]
    if subject.persists { stores.append(try store.reopened()) }
    for store in stores.suffix(1) {
      try store.read { read in
        for (key, name, value) in put1 { try expectEqual(try read.value(store.zoo, name, key), value, name) }
        let rows = try read.allRows(store.zoo, [type.rawValue])
        let expected = put1.map { _, name, value in name == type.rawValue ? value : nil }
        for (row, value) in zip(rows, expected) {
          if let value { try expectEqual(row.values, [value], "scanned \(type.rawValue)") }
        }
        try expectEqual(rows.map(\.key), put1.map { $0.0.rawValue }, "scanned keys")
      }
    }
  }

  private static func listRoundTrip(_ type: ValueType, _ subject: ConformanceSubject) throws {
    let store = try ConformanceStore(subject)
    let values = Extremes.of(type)
    let mixed = values + [.null] + values.reversed() + [.null]
    let key = try store.write { write in
      try store.addPeople(0..<2, write)
      let key = try write.insert(store.zoo)
      try write.edit(store.zoo.column(named: "\(type.rawValue)List"), key, .insert(at: 0, values))
      try write.edit(store.zoo.column(named: "\(type.rawValue)MaybeList"), key, .insert(at: 0, mixed))
      try expectEqual(try write.allValues(store.zoo, "\(type.rawValue)List", key), values, "in the write")
      return key
    }
    let again = subject.persists ? try store.reopened() : store
    try again.read { read in
      try expectEqual(try read.allValues(store.zoo, "\(type.rawValue)List", key), values)
      try expectEqual(try read.allValues(store.zoo, "\(type.rawValue)MaybeList", key), mixed)
    }
  }
}
