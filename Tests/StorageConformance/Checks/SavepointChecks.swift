import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let savepointChecks: [ConformanceCheck] = [
    ConformanceCheck("rollingBackToASavepointUndoesEverythingSince") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try addVaried(60, store, $0) }
      try store.write { write in
        try write.set(store.person.column(named: "rank"), keys[0], word: 1_000)
        try write.edit(store.person.column(named: "numbers"), keys[1], .insert(at: 0, ints([1, 2])))
        let before = try Picture(write, store)
        try write.beginSavepoint()
        try changeVaried(store, write)
        try addVaried(30, store, write, from: 60)
        try editLists(store, keys, write)
        try write.rollbackToSavepoint()
        try expectSame(try Picture(write, store), before, "after the rollback")
        try checkAllIndexes(write, store)
      }
      try store.read { read in
        try checkAllIndexes(read, store)
        try expectEqual(try read.value(store.person, "rank", keys[0]), .int(1_000))
        try expectEqual(try read.allValues(store.person, "numbers", keys[1]), ints([1, 2]))
        try expectEqual(try read.count(store.person.id), 60)
      }
    },
    ConformanceCheck("releasingASavepointKeepsWhatWasDone") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try addVaried(40, store, $0) }
      let picture = try store.write { write in
        try write.beginSavepoint()
        try changeVaried(store, write)
        try editLists(store, keys, write)
        let picture = try Picture(write, store)
        try write.releaseSavepoint()
        try expectSame(try Picture(write, store), picture, "after the release")
        return picture
      }
      try store.read { read in
        try expectSame(try Picture(read, store), picture, "after the commit")
        try checkAllIndexes(read, store)
      }
    },
    ConformanceCheck("savepointsNest") { subject in
      let store = try ConformanceStore(subject)
      let rank = store.person.column(named: "rank")
      let key = try store.write { try store.addPeople(0..<1, $0)[0] }
      try store.write { write in
        try write.set(rank, key, word: 1)
        try write.beginSavepoint()
        try write.set(rank, key, word: 2)
        try write.beginSavepoint()
        try write.set(rank, key, word: 3)
        try write.beginSavepoint()
        try write.set(rank, key, word: 4)
        try write.releaseSavepoint()
        try expectEqual(try write.word(rank, key), 4)
        try write.rollbackToSavepoint()
        try expectEqual(try write.word(rank, key), 2)
        try write.beginSavepoint()
        try write.set(rank, key, word: 5)
        try write.rollbackToSavepoint()
        try expectEqual(try write.word(rank, key), 2)
        try write.rollbackToSavepoint()
        try expectEqual(try write.word(rank, key), 1)
      }
      try expectEqual(try store.read { try $0.word(rank, key) }, 1)
    },
    ConformanceCheck("aReleasedSavepointIsUndoneWithTheOuterOne") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try addVaried(30, store, $0) }
      let before = try store.read { try Picture($0, store) }
      try store.write { write in
        try write.beginSavepoint()
        try write.beginSavepoint()
        try changeVaried(store, write)
        try write.releaseSavepoint()
        try editLists(store, keys, write)
        try write.rollbackToSavepoint()
        try expectSame(try Picture(write, store), before, "in the write")
      }
      try store.read { read in
        try expectSame(try Picture(read, store), before, "after the commit")
        try checkAllIndexes(read, store)
      }
    },
    ConformanceCheck("aRolledBackSavepointFreesUniqueValues") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        try write.insert(store.person, ["id": .int(1), "email": .string("a")])
        try write.beginSavepoint()
        try write.insert(store.person, ["id": .int(2), "email": .string("b")])
        try write.set(store.person.column(named: "email"), ObjectKey(1), .string("c"))
        try write.rollbackToSavepoint()
        try write.insert(store.person, ["id": .int(2), "email": .string("b")])
        try expectError(.uniqueViolation, .statement, "a again") { try write.insert(store.person, ["id": .int(3), "email": .string("a")]) }
        try write.insert(store.person, ["id": .int(3), "email": .string("c")])
      }
      try store.read { try checkAllIndexes($0, store) }
    },
    ConformanceCheck("deletedObjectsComeBackWithTheirListsAndBacklinks") { subject in
      let store = try ConformanceStore(subject)
      let friends = store.person.column(named: "friends")
      let best = store.person.column(named: "best")
      try store.write { write in
        let keys = try store.addPeople(0..<3, write)
        try write.edit(friends, keys[1], .insert(at: 0, [.link(keys[0]), .link(keys[0])]))
        try write.set(best, keys[1], .link(keys[0]))
        try write.beginSavepoint()
        try write.edit(friends, keys[1], .clear)
        try write.delete(store.person.id, keys[1])
        try expectEqual(try write.allSources(of: keys[0], through: best), [])
        try write.rollbackToSavepoint()
        try expectEqual(try write.allSources(of: keys[0], through: friends), [2, 2])
        try expectEqual(try write.allSources(of: keys[0], through: best), [2])
        try expectEqual(try write.allValues(store.person, "friends", keys[1]).count, 2)
      }
      try store.read { read in
        try expectEqual(try read.allSources(of: ObjectKey(1), through: friends), [2, 2])
        try expectEqual(try read.count(store.person.id), 3)
      }
    },
    ConformanceCheck("aScanBetweenADeleteAndItsUndoLeavesNoTrace") { subject in
      let store = try ConformanceStore(subject)
      func add(_ range: Range<Int>, _ write: any WriteTransaction) throws -> [ObjectKey] {
        try range.map { i in
          let text = String(repeating: "t\(i)", count: i % 5 == 0 ? 900 : 1)
          return try write.insert(
            store.person, ["id": .int(Int64(i)), "name": .string(text), "photo": .data(Data(text.utf8)), "weight": .float(Float(i))])
        }
      }
      let names = ["name", "photo", "weight", "id"]
      func check(_ keys: [ObjectKey], _ write: any WriteTransaction) throws {
        let before = try write.allRows(store.person, names)
        try write.beginSavepoint()
        for key in keys.suffix(7) { try write.delete(store.person.id, key) }
        try expectEqual(try write.allRows(store.person, names).count, before.count - 7)
        try write.rollbackToSavepoint()
        let after = try write.allRows(store.person, names)
        try expectEqual(after.map(\.values), before.map(\.values))
      }
      let keys = try store.write { write in
        let keys = try add(0..<30, write)
        try check(keys, write)
        return keys
      }
      try store.write { write in
        try check(keys, write)
        try write.set(store.person.column(named: "name"), keys[0], .string("edited"))
        try check(keys, write)
      }
    },
    ConformanceCheck("aSavepointOverThousandsOfInsertsIsUndone") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<1_500, $0) }
      try store.write { write in
        try store.addPeople(1_500..<1_510, write)
        try write.beginSavepoint()
        try store.addPeople(1_510..<4_000, write)
        for key in Int64(1)...1_505 where key % 3 == 0 { try write.delete(store.person.id, ObjectKey(key)) }
        try write.rollbackToSavepoint()
        try expectEqual(try write.count(store.person.id), 1_510)
        try store.addPeople(1_510..<1_520, write)
      }
      try store.read { read in
        try expectEqual(try read.allRows(store.person, ["id"]).map { $0.values[0] }, (0..<1_520).map { .int(Int64($0)) })
        try checkAllIndexes(read, store)
      }
    },
    ConformanceCheck("endingASavepointThatIsNotOpenIsMisuse") { subject in
      let store = try ConformanceStore(subject)
      try store.writeInVain { write in
        try expectError(.misuse, nil, "release") { try write.releaseSavepoint() }
      }
      try store.writeInVain { write in
        try write.beginSavepoint()
        try write.releaseSavepoint()
        try expectError(.misuse, nil, "rollback") { try write.rollbackToSavepoint() }
      }
    },
    ConformanceCheck("committingWithASavepointOpenIsMisuseAndEndsTheWrite") { subject in
      let store = try ConformanceStore(subject)
      let write = try store.engine.beginWrite(.never)
      try write.insert(store.pet)
      try write.beginSavepoint()
      try expectError(.misuse, nil, "commit") { try write.commit(CommitRecord(), .relaxed) }
      try expectEqual(try store.read { try $0.count(store.pet.id) }, 0)
      let next = try store.engine.beginWrite(.after(.seconds(600)))
      next.end()
    },
    ConformanceCheck("aCatalogChangeIsUndoneWithItsSavepoint") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<10, $0) }
      try store.write { write in
        let before = write.catalog
        try write.beginSavepoint()
        var schema = ConformanceStore.schema
        schema.objects[1].properties.append(.scalar("nick", .string, optional: true, indexed: true))
        try write.setCatalog(try write.catalog.adopting(schema).catalog)
        let pet = try unwrap(write.catalog["Pet"], "Pet")
        try write.insert(pet, ["nick": .string("x")])
        try write.rollbackToSavepoint()
        try expectEqual(write.catalog, before, "the catalog")
        try expectEqual(try write.count(store.pet.id), 0)
        try write.insert(store.pet)
      }
      try store.read { read in
        try expect(read.catalog["Pet"]?["nick"] == nil, "the undone column is in the catalog")
        try expectEqual(try read.count(store.pet.id), 1)
      }
    },
  ]

  static func editLists(_ store: ConformanceStore, _ keys: [ObjectKey], _ write: any WriteTransaction) throws {
    for key in keys where try write.contains(store.person.id, key) {
      try write.edit(store.person.column(named: "numbers"), key, .insert(at: 0, ints([key.rawValue, 5])))
      try write.edit(store.person.column(named: "friends"), key, .insert(at: 0, [.link(keys[0]), .link(key)]))
    }
  }

  static func expectSame(_ actual: Picture, _ expected: Picture, _ what: String) throws {
    for (table, rows) in expected.rows {
      for (key, row) in rows where actual.rows[table]?[key] != row {
        throw ConformanceFailure("\(what), object \(key) of \(table) is \(String(describing: actual.rows[table]?[key])), expected \(row)")
      }
      try expectEqual(actual.rows[table]?.keys.sorted(), rows.keys.sorted(), "\(what), objects of \(table)")
    }
    try expect(actual.indexes == expected.indexes, "\(what), the indexes differ")
    try expect(actual.backlinks == expected.backlinks, "\(what), the backlinks differ")
  }
}
