import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let uniquenessChecks: [ConformanceCheck] = [
    ConformanceCheck("aSecondObjectWithTheSameKeyIsRefusedAndTheWriteGoesOn") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        let first = try write.insert(store.person, ["id": .int(7), "name": .string("first")])
        let error = try expectError(.uniqueViolation, .statement, "insert") {
          try write.insert(store.person, ["id": .int(7), "name": .string("second")])
        }
        try expectEqual(error.index, store.person.index("id"))
        try expectEqual(error.conflictingKey, first)
        try write.insert(store.person, ["id": .int(8), "name": .string("third")])
      }
      try store.read { read in
        try expectEqual(try read.count(store.person.id), 2)
        try expectEqual(try read.count(in: store.person.index("name"), IndexRange(equal: [.string("second")])), 0)
        try checkAllIndexes(read, store)
      }
    },
    ConformanceCheck("aConflictWithACommittedObjectIsSeen") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try store.addPeople(0..<500, $0) }
      try store.write { write in
        let error = try expectError(.uniqueViolation, .statement, "insert") { try write.insert(store.person, ["id": .int(321)]) }
        try expectEqual(error.conflictingKey, keys[321])
        try expectEqual(error.index, store.person.index("id"))
        try expectEqual(try write.count(store.person.id), 500)
      }
      try store.read { try checkAllIndexes($0, store) }
    },
    ConformanceCheck("aSetThatWouldMakeTwoEqualIsRefusedAndLeavesTheOldValue") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { write in
        try (0..<3).map { try write.insert(store.person, ["id": .int(Int64($0)), "email": .string("\($0)@example.org")]) }
      }
      try store.write { write in
        let email = store.person.column(named: "email")
        let error = try expectError(.uniqueViolation, .statement, "set") { try write.set(email, keys[1], .string("0@example.org")) }
        try expectEqual(error.index, store.person.index("email"))
        try expectEqual(error.conflictingKey, keys[0])
        try expectEqual(try write.value(email, keys[1]), .string("1@example.org"))
        try expectError(.uniqueViolation, .statement, "set id") {
          try write.set(store.person.column(named: "id"), keys[2], word: 0)
        }
        try write.set(email, keys[1], .string("1@example.org"))
        try write.set(email, keys[2], .string("free"))
      }
      try store.read { read in
        try checkAllIndexes(read, store)
        try expectEqual(try read.value(store.person, "email", keys[1]), .string("1@example.org"))
        try expectEqual(try read.value(store.person, "email", keys[2]), .string("free"))
      }
    },
    ConformanceCheck("aFailedInsertLeavesNothingInTheOtherIndexes") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        try write.insert(store.person, ["id": .int(1), "email": .string("taken")])
        for name in ["a", "b"] {
          try expectError(.uniqueViolation, .statement, "insert") {
            try write.insert(
              store.person, ["id": .int(2), "name": .string(name), "age": .int(5), "email": .string("taken"), "best": .link(ObjectKey(1))])
          }
        }
        try checkAllIndexes(write, store)
        try expectEqual(try write.allSources(of: ObjectKey(1), through: store.person.column(named: "best")), [])
        try write.insert(store.person, ["id": .int(2)])
      }
      try store.read { read in
        try checkAllIndexes(read, store)
        try expectEqual(try read.allSources(of: ObjectKey(1), through: store.person.column(named: "best")), [])
      }
    },
    ConformanceCheck("aValueIsFreeAgainAfterDeleteAndAfterSet") { subject in
      let store = try ConformanceStore(subject)
      let key = try store.write { try $0.insert(store.person, ["id": .int(1), "email": .string("a")]) }
      try store.write { write in
        try write.delete(store.person.id, key)
        let second = try write.insert(store.person, ["id": .int(1), "email": .string("a")])
        try write.set(store.person.column(named: "email"), second, .string("b"))
        try write.insert(store.person, ["id": .int(2), "email": .string("a")])
        try write.set(store.person.column(named: "id"), second, word: 3)
        try write.insert(store.person, ["id": .int(1), "email": .string("c")])
      }
      try store.read { read in
        try expectEqual(try read.count(store.person.id), 3)
        try checkAllIndexes(read, store)
      }
    },
    ConformanceCheck("twoValuesCanChangePlacesThroughAThird") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try store.addPeople(0..<2, $0) }
      let id = store.person.column(named: "id")
      try store.write { write in
        try write.set(id, keys[0], word: 99)
        try write.set(id, keys[1], word: 0)
        try write.set(id, keys[0], word: 1)
      }
      try store.read { read in
        try expectEqual(try read.key(in: store.person.index("id"), equal: [.int(0)]), keys[1])
        try expectEqual(try read.key(in: store.person.index("id"), equal: [.int(1)]), keys[0])
      }
    },
    ConformanceCheck("anyNumberOfObjectsMayHaveNullInAUniqueIndex") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        for i in 0..<5 { try write.insert(store.person, ["id": .int(Int64(i)), "score": .double(1)]) }
        for i in 5..<8 { try write.insert(store.person, ["id": .int(Int64(i)), "isNice": .bool(true)]) }
      }
      try store.read { read in
        try expectEqual(try read.count(in: store.person.index("email"), IndexRange(equal: [.null])), 8)
        try checkAllIndexes(read, store)
      }
    },
    ConformanceCheck("aCompoundUniqueIndexRefusesTheWholeTupleOnly") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        let first = try write.insert(store.person, ["id": .int(1), "score": .double(1.5), "isNice": .bool(true)])
        try write.insert(store.person, ["id": .int(2), "score": .double(1.5), "isNice": .bool(false)])
        let third = try write.insert(store.person, ["id": .int(3), "score": .double(2), "isNice": .bool(true)])
        let error = try expectError(.uniqueViolation, .statement, "insert") {
          try write.insert(store.person, ["id": .int(4), "score": .double(1.5), "isNice": .bool(true)])
        }
        try expectEqual(error.index, store.person.index("score", "isNice"))
        try expectEqual(error.conflictingKey, first)
        try expectError(.uniqueViolation, .statement, "set") {
          try write.set(store.person.column(named: "score"), third, .double(1.5))
        }
        try expectEqual(try write.value(store.person, "score", third), .double(2))
      }
      try store.read { try checkAllIndexes($0, store) }
    },
    ConformanceCheck("uniquenessGoesByTheOrderOfValues") { subject in
      // 0.0 and −0.0 are the same, and so are two NaNs.
      let store = try ConformanceStore(subject)
      try store.write { write in
        try write.insert(store.person, ["id": .int(1), "score": .double(0), "isNice": .bool(true)])
        try write.insert(store.person, ["id": .int(2), "score": .double(.nan), "isNice": .bool(true)])
        for (i, score) in [-0.0, Double(bitPattern: 0xFFF8_0000_0000_0001)].enumerated() {
          try expectError(.uniqueViolation, .statement, "score \(score)") {
            try write.insert(store.person, ["id": .int(Int64(3 + i)), "score": .double(score), "isNice": .bool(true)])
          }
        }
      }
    },
    ConformanceCheck("uniqueTextsDifferByBytes") { subject in
      let store = try ConformanceStore(subject)
      let texts = ["é", "e\u{301}", "É", "a", "A", "a ", "a\0", "", "\0", "Å", "\u{212B}"]
      try store.write { write in
        for (i, text) in texts.enumerated() { try write.insert(store.person, ["id": .int(Int64(i)), "email": .string(text)]) }
        for text in texts {
          try expectError(.uniqueViolation, .statement, "'\(text)' again") {
            try write.insert(store.person, ["id": .int(100), "email": .string(text)])
          }
        }
      }
      try store.read { read in
        for (i, text) in texts.enumerated() {
          try expectEqual(try read.key(in: store.person.index("email"), equal: [.string(text)]), ObjectKey(Int64(i + 1)))
        }
      }
    },
    ConformanceCheck("conflictsAreSeenInABulkLoad") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        try store.addPeople(0..<3_000, write)
        for id in [0, 1, 1_007, 1_008, 2_015, 2_999] {
          let error = try expectError(.uniqueViolation, .statement, "id \(id)") { try write.insert(store.person, ["id": .int(Int64(id))]) }
          try expectEqual(error.conflictingKey, ObjectKey(Int64(id + 1)))
        }
        try expectEqual(try write.count(store.person.id), 3_000)
      }
    },
  ]
}
