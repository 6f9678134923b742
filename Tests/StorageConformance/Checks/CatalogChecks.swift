import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let catalogChecks: [ConformanceCheck] = [
    ConformanceCheck("aNewPropertyReadsAsItsDefaultOrNull") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try store.addPeople(0..<1_200, $0) }
      let added: [(PropertySchema, Value)] = [
        (.scalar("nick", .string, optional: true), .null), (.scalar("plain", .int64), .int(0)),
        (.scalar("title", .string, default: .string("Dr")), .string("Dr")), (.scalar("ratio", .double, default: .double(-0.0)), .double(-0.0)),
        (.scalar("on", .bool, default: .bool(true)), .bool(true)), (.scalar("uid", .uuid), Value.zero(of: .uuid)),
        (.scalar("token", .uuid, default: Extremes.uuids[2]), Extremes.uuids[2]), (.scalar("blob", .data), .data(Data())),
        (.scalar("since", .date, default: .date(Timestamp(secondsSinceReferenceDate: -5))), .date(Timestamp(secondsSinceReferenceDate: -5))),
        (.scalar("small", .int8, default: .int(-7)), .int(-7)), (.link("boss", to: "Person"), .null),
      ]
      let person = try grow(store) { $0.properties += added.map(\.0) + [.list("more", of: .int64)] }
      func check(_ tx: any StorageReading) throws {
        for (property, value) in added {
          for key in [keys[0], keys[700], keys[1_199]] {
            try expectEqual(try tx.value(person, property.name, key), value, property.name)
          }
          let scanned = try tx.allRows(person, [property.name, "id"])
          try expectEqual(scanned.count, 1_200, "rows of \(property.name)")
          for row in scanned { try expectEqual(row.values, [value, .int(row.key - 1)], "\(property.name) of \(row.key)") }
        }
        try expectEqual(try tx.elementCount(person.column(named: "more"), keys[5]), 0)
      }
      try store.read { try check($0) }
      try store.writeInVain { try check($0) }
    },
    ConformanceCheck("aNewPropertyIsSetBesideOldRows") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try store.addPeople(0..<1_100, $0) }
      let person = try grow(store) { $0.properties += [.scalar("title", .string, default: .string("Dr")), .scalar("level", .int64, optional: true)] }
      try store.write { write in
        // What an old row is read as is what it has: setting that changes nothing.
        try expectEqual(try write.set(person.column(named: "title"), keys[4], .string("Dr")), false, "set to the default")
        try expectEqual(try write.set(person.column(named: "level"), keys[4], word: nil), false, "set to null")
        try expectEqual(try write.set(person.column(named: "title"), keys[3], .string("Prof")), true, "set to another")
        try expectEqual(try write.set(person.column(named: "level"), keys[1_050], word: 9), true, "set to a number")
        try write.insert(person, ["id": .int(5_000), "level": .int(1)])
      }
      let again = subject.persists ? try store.reopened() : store
      try again.read { read in
        let rows = try read.allRows(person, ["title", "level"])
        try expectEqual(rows.count, 1_101)
        for (i, row) in rows.enumerated() {
          let title: Value = i == 3 ? .string("Prof") : .string("Dr")
          let level: Value = i == 1_050 ? .int(9) : i == 1_100 ? .int(1) : .null
          try expectEqual(row.values, [title, level], "row \(i)")
          try expectEqual(try read.value(person, "title", ObjectKey(row.key)), title)
        }
      }
    },
    ConformanceCheck("aNewIndexIsFilledAndKept") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try addVaried(300, store, $0) }
      let person = try grow(store) { schema in
        schema.properties[schema.properties.firstIndex { $0.name == "rank" } ?? 0].isIndexed = true
        schema.indexes.append(IndexSchema(properties: ["tag", "rank"], isUnique: true))
      }
      func check(_ tx: any StorageReading) throws {
        let ranks = try tx.allRows(person, ["rank"]).sorted { ($0.values[0].word ?? 0, $0.key) < ($1.values[0].word ?? 0, $1.key) }
        try expectEqual(try tx.allKeys(in: person.index("rank")), ranks.map(\.key))
        try expectEqual(try tx.count(in: person.index("tag", "rank"), .all), ranks.count)
      }
      try store.read { try check($0) }
      try store.write { write in
        try write.set(person.column(named: "rank"), keys[10], word: 5_000)
        try write.delete(person.id, keys[11])
        try write.insert(person, ["id": .int(-1), "rank": .int(-1)])
        try check(write)
      }
      try (subject.persists ? try store.reopened() : store).read { try check($0) }
    },
    ConformanceCheck("anIndexOverANewPropertyHoldsItsDefault") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { try store.addPeople(0..<40, $0) }
      let person = try grow(store) { $0.properties.append(.scalar("level", .int64, indexed: true, default: .int(3))) }
      try store.write { try $0.set(person.column(named: "level"), keys[4], word: 1) }
      try store.read { read in
        try expectEqual(try read.count(in: person.index("level"), IndexRange(equal: [.int(3)])), 39)
        try expectEqual(try read.allKeys(in: person.index("level")).first, keys[4].rawValue)
      }
    },
    ConformanceCheck("anIndexCanBeAddedAndUsedInTheSameWrite") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        try store.addPeople(0..<100, write)
        var schema = ConformanceStore.schema
        schema.objects[0].properties[10].isIndexed = true
        schema.objects.append(ObjectSchema("Extra", .scalar("x", .int64, unique: true)))
        try write.setCatalog(try write.catalog.adopting(schema).catalog)
        let person = try unwrap(write.catalog["Person"], "Person")
        let extra = try unwrap(write.catalog["Extra"], "Extra")
        try expectEqual(try write.count(in: person.index("rank"), IndexRange(equal: [.int(30)])), 1)
        try expectEqual(try write.insert(extra, ["x": .int(5)]), ObjectKey(1))
        try expectError(.uniqueViolation, .statement, "x again") { try write.insert(extra, ["x": .int(5)]) }
      }
      try store.read { read in
        let extra = try unwrap(read.catalog["Extra"], "Extra")
        try expectEqual(try read.count(extra.id), 1)
        try expectEqual(try read.count(in: try unwrap(read.catalog["Person"], "Person").index("rank"), .all), 100)
      }
    },
    ConformanceCheck("aDroppedIndexIsGone") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<50, $0) }
      let old = store.person.index("name")
      let snapshot = try store.engine.beginRead()
      let person = try grow(store) { $0.properties[1].isIndexed = false }
      try expect(!person.indexes.contains { $0.id == old }, "the catalog still has the index")
      try store.read { read in _ = try expectError(.misuse, nil, "keys") { try read.allKeys(in: old) } }
      try expectEqual(try snapshot.allKeys(in: old).count, 50, "in an older snapshot")
      let again = try grow(store) { _ in }
      let new = again.index("name")
      try expect(new != old, "the number of a dropped index is used again")
      try expectEqual(try store.read { try $0.allKeys(in: new).count }, 50)
    },
    ConformanceCheck("aUniqueIndexOverDuplicatesFailsAndNothingChanges") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<30, $0) }
      let before = try store.read { try Picture($0) }
      let (catalog, version) = try store.read { ($0.catalog, $0.version) }
      let write = try store.engine.beginWrite(.never)
      var schema = ConformanceStore.schema
      schema.objects[0].indexes.append(IndexSchema(properties: ["name"], isUnique: true))
      let grown = try write.catalog.adopting(schema).catalog
      try write.insert(store.pet)
      try expectError(.uniqueViolation, .transaction, "setCatalog") { try write.setCatalog(grown) }
      write.end()
      try store.read { read in
        try expectEqual(read.catalog, catalog)
        try expectEqual(read.version, version)
        try expectSame(try Picture(read), before, "after the failure")
      }
      try store.write { try $0.insert(store.pet) }
      if subject.persists { try expectEqual(try store.reopened().read { $0.catalog }, catalog) }
    },
    ConformanceCheck("aUniqueIndexOverDifferentValuesAndNullsIsMade") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try addVaried(50, store, $0) }
      let person = try grow(store) { $0.indexes.append(IndexSchema(properties: ["email", "age"], isUnique: true)) }
      try expectEqual(try store.read { try $0.count(in: person.index("email", "age"), .all) }, 50)
    },
    ConformanceCheck("aRolledBackCatalogLeavesNothing") { subject in
      let store = try ConformanceStore(subject)
      try store.write { try store.addPeople(0..<10, $0) }
      let catalog = try store.read { $0.catalog }
      var schema = ConformanceStore.schema
      schema.objects[0].properties.append(.scalar("level", .int64, indexed: true, default: .int(3)))
      schema.objects.append(ObjectSchema("Extra", .scalar("x", .int64, indexed: true), .list("xs", of: .int64)))
      for _ in 0..<2 {
        try store.writeInVain { write in
          try write.setCatalog(try write.catalog.adopting(schema).catalog)
          let extra = try unwrap(write.catalog["Extra"], "Extra")
          let key = try write.insert(extra, ["x": .int(1)])
          try write.edit(extra.column(named: "xs"), key, .insert(at: 0, ints([1])))
          try write.set(try unwrap(write.catalog["Person"], "Person").column(named: "level"), ObjectKey(1), word: 8)
        }
        try expectEqual(try store.read { $0.catalog }, catalog)
      }
      let grown = try store.engine.adopt(schema)
      try store.read { read in
        let extra = try unwrap(grown["Extra"], "Extra")
        try expectEqual(try read.count(extra.id), 0)
        try expectEqual(try read.allKeys(in: extra.index("x")), [])
        let person = try unwrap(grown["Person"], "Person")
        try expectEqual(try read.value(person, "level", ObjectKey(1)), .int(3))
        try expectEqual(try read.count(in: person.index("level"), IndexRange(equal: [.int(3)])), 10)
      }
    },
    ConformanceCheck("typesThatASchemaDoesNotListStay") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        try store.addPeople(0..<5, write)
        try write.insert(store.pet, ["name": .string("Rex")])
      }
      try store.engine.adopt(Schema([ObjectSchema("Alone", .scalar("x", .int64))]))
      try store.read { read in
        try expectEqual(read.catalog["Pet"], store.pet)
        try expectEqual(try read.value(store.pet, "name", ObjectKey(1)), .string("Rex"))
        try expectEqual(try read.count(store.person.id), 5)
      }
    },
    ConformanceCheck("aTypeMayHaveHundredsOfProperties") { subject in
      let store = try ConformanceStore(subject)
      let wide = ObjectSchema(name: "Wide", properties: (0..<300).map { .scalar("p\($0)", $0 % 2 == 0 ? .int64 : .string, optional: $0 % 3 == 0) })
      let table = try unwrap(try store.engine.adopt(Schema([wide]))["Wide"], "Wide")
      let key = try store.write { write in
        try write.insert(table, ["p0": .int(1), "p298": .int(298), "p299": .string("last"), "p151": .string("middle")])
      }
      try store.write { try $0.set(table.column(named: "p200"), key, .int(200)) }
      try store.read { read in
        try expectEqual(try read.allRows(table, ["p299", "p0", "p298", "p151", "p200", "p3", "p4"])[0].values, [.string("last"), .int(1), .int(298), .string("middle"), .int(200), .null, .int(0)])
      }
    },
  ]

  /// Adopts a changed `Person` and gives its new entry.
  private static func grow(_ store: ConformanceStore, _ change: (inout ObjectSchema) -> Void) throws -> TableEntry {
    var schema = ConformanceStore.schema
    change(&schema.objects[0])
    return try unwrap(try store.engine.adopt(schema)["Person"], "Person")
  }
}
