import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let pointChecks: [ConformanceCheck] = [
    ConformanceCheck("aNewStoreIsEmptyAtVersionZero") { subject in
      let backend = try subject.makeBackend()
      let engine = try backend.open(OpenOptions())
      try expectEqual(try engine.latestVersion(), Version(0))
      let read = try engine.beginRead()
      try expectEqual(read.version, Version(0))
      try expectEqual(read.catalog, Catalog())
      try expectEqual(try read.allVersions(after: 0), [])
    },
    ConformanceCheck("countAndContainsFollowInsertsAndDeletes") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { write in
        let keys = try store.addPeople(0..<300, write)
        try expectEqual(try write.count(store.person.id), 300, "count in the write")
        for key in keys where key.rawValue % 3 == 0 { try write.delete(store.person.id, key) }
        try expectEqual(try write.count(store.person.id), 200, "count in the write after deletes")
        return keys
      }
      try store.read { read in
        try expectEqual(try read.count(store.person.id), 200)
        try expectEqual(try read.count(store.pet.id), 0)
        for key in keys {
          try expectEqual(try read.contains(store.person.id, key), key.rawValue % 3 != 0, "contains \(key)")
        }
        for key in [0, -1, Int64.min, Int64.max, 1_000_000] {
          try expectEqual(try read.contains(store.person.id, ObjectKey(key)), false, "contains \(key)")
        }
      }
    },
    ConformanceCheck("aDeletedOrUnknownObjectIsAnErrorOfTheStatement") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try store.addPeople(0..<3, $0) }
      try store.write { try $0.delete(store.person.id, keys[1]) }
      let name = store.person.column(named: "name")
      let rank = store.person.column(named: "rank")
      let numbers = store.person.column(named: "numbers")
      for key in [keys[1], ObjectKey(0), ObjectKey(-5), ObjectKey(999), ObjectKey(Int64.max), ObjectKey(Int64.min)] {
        try store.read { read in
          try expectError(.objectDeleted, .statement, "word") { try read.word(rank, key) }
          try expectError(.objectDeleted, .statement, "bytes") { try read.bytes(name, key) { _ in } }
          try expectError(.objectDeleted, .statement, "elementCount") { try read.elementCount(numbers, key) }
          try expectError(.objectDeleted, .statement, "elements") { try read.elements(numbers, key, 0..<1) { _ in .stop } }
        }
        try store.write { write in
          try expectError(.objectDeleted, .statement, "delete") { try write.delete(store.person.id, key) }
          try expectError(.objectDeleted, .statement, "set word") { try write.set(rank, key, word: 1) }
          try expectError(.objectDeleted, .statement, "set bytes") { try write.set(name, key, .string("x")) }
          try expectError(.objectDeleted, .statement, "edit") { try write.edit(numbers, key, .clear) }
          try expectEqual(try write.count(store.person.id), 2)
        }
      }
    },
    ConformanceCheck("unknownTablesColumnsAndIndexesAreMisuse") { subject in
      let store = try ConformanceStore(subject)
      let key = try store.write { try store.addPeople(0..<1, $0)[0] }
      let nowhere = ColumnID(TableID(999), PropertyID(1))
      let nothing = ColumnID(store.person.id, PropertyID(999))
      func ask(_ tx: any StorageReading) throws {
        try expectError(.misuse, nil, "count") { try tx.count(TableID(999)) }
        try expectError(.misuse, nil, "contains") { try tx.contains(TableID(999), key) }
        for column in [nowhere, nothing] {
          try expectError(.misuse, nil, "word") { try tx.word(column, key) }
          try expectError(.misuse, nil, "bytes") { try tx.bytes(column, key) { _ in } }
          try expectError(.misuse, nil, "elementCount") { try tx.elementCount(column, key) }
          try expectError(.misuse, nil, "elements") { try tx.elements(column, key, 0..<1) { _ in .stop } }
          try expectError(.misuse, nil, "sources") { try tx.sources(of: key, through: column) { _ in .stop } }
        }
        try expectError(.misuse, nil, "scan of no table") {
          try tx.scan(TableID(999), [], from: ObjectKey(0), hints: []) { _ in .stop }
        }
        try expectError(.misuse, nil, "scan of no column") {
          try tx.scan(store.person.id, [PropertyID(999)], from: ObjectKey(0), hints: []) { _ in .stop }
        }
        try expectError(.misuse, nil, "keys") { try tx.keys(in: IndexID(999), .all, descending: false) { _ in .stop } }
        try expectError(.misuse, nil, "count in") { try tx.count(in: IndexID(999), .all) }
      }
      try store.read { try ask($0) }
      try store.write { write in
        try ask(write)
        try expectError(.misuse, nil, "delete") { try write.delete(TableID(999), key) }
        for column in [nowhere, nothing] {
          try expectError(.misuse, nil, "set word") { try write.set(column, key, word: 1) }
          try expectError(.misuse, nil, "set bytes") { try write.set(column, key, bytes: nil) }
          try expectError(.misuse, nil, "edit") { try write.edit(column, key, .clear) }
        }
      }
      try expectEqual(try store.read { try $0.count(store.person.id) }, 1)
    },
    ConformanceCheck("columnsOfAnotherKindAreMisuse") { subject in
      let store = try ConformanceStore(subject)
      let key = try store.write { try store.addPeople(0..<1, $0)[0] }
      func ask(_ tx: any StorageReading) throws {
        for name in ["name", "photo", "tag", "numbers", "friends", "admirers"] {
          try expectError(.misuse, nil, "word of \(name)") { try tx.word(store.person.column(named: name), key) }
        }
        for name in ["age", "score", "isNice", "best", "numbers", "words", "admirers"] {
          try expectError(.misuse, nil, "bytes of \(name)") { try tx.bytes(store.person.column(named: name), key) { _ in } }
        }
        for name in ["name", "age", "best", "admirers"] {
          let column = store.person.column(named: name)
          try expectError(.misuse, nil, "elementCount of \(name)") { try tx.elementCount(column, key) }
          try expectError(.misuse, nil, "elements of \(name)") { try tx.elements(column, key, 0..<1) { _ in .stop } }
        }
        for name in ["name", "age", "numbers", "admirers"] {
          try expectError(.misuse, nil, "sources of \(name)") {
            try tx.sources(of: key, through: store.person.column(named: name)) { _ in .stop }
          }
        }
        for name in ["numbers", "friends", "admirers"] {
          try expectError(.misuse, nil, "scan of \(name)") {
            try tx.scan(store.person.id, [store.person.id(name)], from: ObjectKey(0), hints: []) { _ in .stop }
          }
        }
      }
      try store.read { try ask($0) }
      try store.write { write in
        try ask(write)
        for name in ["name", "photo", "numbers", "admirers"] {
          try expectError(.misuse, nil, "set word of \(name)") {
            try write.set(store.person.column(named: name), key, word: 1)
          }
        }
        for name in ["age", "best", "words", "admirers"] {
          try expectError(.misuse, nil, "set bytes of \(name)") {
            try write.set(store.person.column(named: name), key, bytes: nil)
          }
        }
        for name in ["name", "age", "best", "admirers"] {
          try expectError(.misuse, nil, "edit of \(name)") { try write.edit(store.person.column(named: name), key, .clear) }
        }
      }
    },
    ConformanceCheck("settingSaysWhetherAnythingChanged") { subject in
      let store = try ConformanceStore(subject)
      let values: [(String, Value, Value)] = [
        ("int8", .int(5), .int(-5)), ("int8Maybe", .null, .int(1)), ("bool", .bool(true), .bool(false)),
        ("double", .double(0), .double(1.5)),
        ("string", .string(""), .string("s")), ("data", .data(Data()), .data(Data([0]))), ("uuidMaybe", .null, .uuid(UUID())),
      ]
      try store.write { write in
        let key = try write.insert(store.zoo, Dictionary(uniqueKeysWithValues: values.map { ($0.0, $0.1) }))
        for (name, first, second) in values {
          let column = store.zoo.column(named: name)
          for (value, isOther) in [(first, false), (second, true), (second, false), (first, true), (first, false)] {
            try expectEqual(try write.set(column, key, value), isOther, "set \(name) to \(value)")
            try expectEqual(try write.value(column, key), value, name)
          }
        }
      }
      try store.write { write in
        for (name, first, second) in values {
          let column = store.zoo.column(named: name)
          try expectEqual(try write.set(column, ObjectKey(1), first), false, "set \(name) of a stored object to what it is")
          try expectEqual(try write.set(column, ObjectKey(1), second), true, "set \(name) of a stored object")
        }
      }
    },
    ConformanceCheck("valuesThatDoNotFitAreRefusedAndNothingChanges") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        let key = try write.insert(store.zoo, ["int8": .int(5), "string": .string("s")])
        let wrong: [(String, Int64?)] = [
          ("int8", 128), ("int8", -129), ("int16", 32_768), ("int32", Int64(Int32.max) + 1), ("int32", Int64.min),
          ("int8Maybe", 1_000), ("int8", nil), ("int64", nil), ("double", nil), ("bool", nil), ("date", nil),
        ]
        for (name, word) in wrong {
          let column = store.zoo.column(named: name)
          let before = try write.word(column, key)
          try expectError(.typeMismatch, .statement, "set \(name)") { try write.set(column, key, word: word) }
          try expectEqual(try write.word(column, key), before, name)
        }
        for name in ["string", "data", "uuid"] {
          let column = store.zoo.column(named: name)
          try expectError(.typeMismatch, .statement, "set \(name) null") { try write.set(column, key, bytes: nil) }
        }
        let short: [UInt8] = [1, 2, 3]
        try expectError(.typeMismatch, .statement, "set a short uuid") {
          try short.withUnsafeBytes { try write.set(store.zoo.column(named: "uuidMaybe"), key, bytes: $0) }
        }
        try expectError(.typeMismatch, .statement, "insert") { try write.insert(store.zoo, ["int8": .int(200)]) }
        try expectError(.typeMismatch, .statement, "insert null") { try write.insert(store.zoo, ["string": .null]) }
        try expectEqual(try write.count(store.zoo.id), 1)
        try expectEqual(try write.value(store.zoo, "string", key), .string("s"))
      }
      try expectEqual(try store.read { try $0.count(store.zoo.id) }, 1)
    },
    ConformanceCheck("bytesCallsItsBodyOnce") { subject in
      let store = try ConformanceStore(subject)
      let key = try store.write { try store.addPeople(0..<1, $0)[0] }
      try store.read { read in
        for name in ["name", "email", "tag", "photo"] {
          var calls = 0
          try read.bytes(store.person.column(named: name), key) { _ in calls += 1 }
          try expectEqual(calls, 1, "calls for \(name)")
        }
      }
    },
    ConformanceCheck("aClosureMayReadTheSameTransaction") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<20, $0) }
      let name = store.person.column(named: "name")
      func ask(_ tx: any StorageReading) throws {
        var inner = 0
        var failure: (any Error)?
        try tx.scan(store.person.id, [store.person.id("rank")], from: ObjectKey(0), hints: []) { batch in
          do {
            for row in 0..<batch.count where batch.isLive(at: row) {
              let word = batch.columns[0].word(at: row)
              try expectEqual(try tx.word(store.person.column(named: "rank"), batch.key(at: row)), word)
              _ = try tx.value(name, batch.key(at: row))
              inner += try tx.count(in: store.person.index("id"), IndexRange(equal: [.int(word / 3)]))
            }
          } catch { failure = error }
          return .proceed
        }
        if let failure { throw failure }
        try expectEqual(inner, 20)
      }
      try store.read { try ask($0) }
      try store.write { try ask($0) }
    },
  ]
}
