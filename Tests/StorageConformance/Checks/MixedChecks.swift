import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

/// An object of the checks of indexes.
private struct ThingRow {
  let key: ObjectKey
  let price: Value
  let any: Value
}

extension StorageConformance {
  static let mixedChecks: [ConformanceCheck] = [
    ConformanceCheck("linksInsideMixedValuesAreSeenFromTheirTargets") { subject in
      let members = try MemberStore(subject)
      let person = members.store.person.id
      let names = ["any", "things", "mixedSet", "mixedMap"]
      try members.store.write { write in
        let people = try members.store.addPeople(0..<3, write)
        let link = Value.object(ObjectLink(person, people[0]))
        let other = Value.object(ObjectLink(members.store.pet.id, people[0]))
        let nested = Value.list([link, .map(["a": link, "b": other]), .int(1)])
        let keys = try (0..<3).map { _ in try write.insert(members.holder) }
        try write.set(members.column("any"), keys[0], link)
        try write.set(members.column("any"), keys[1], nested)
        try write.set(members.column("any"), keys[2], other)
        try write.edit(members.column("things"), keys[0], .insert(at: 0, [link, nested, .int(1), link]))
        for value in [link, nested, other] { _ = try write.insert(member: value, into: members.column("mixedSet"), keys[1]) }
        for (i, value) in [link, nested, link].enumerated() { _ = try write.set(value, forKey: "\(i)", in: members.column("mixedMap"), keys[2]) }
      }
      let expected: [[Int64]] = [[1, 2, 2], [1, 1, 1, 1], [2, 2, 2], [3, 3, 3, 3]]
      try members.store.read { read in
        for (name, owners) in zip(names, expected) {
          try expectEqual(try read.allSources(of: ObjectLink(person, ObjectKey(1)), through: members.column(name)), owners, name)
          try expectEqual(try read.allSources(of: ObjectLink(person, ObjectKey(2)), through: members.column(name)), [], name)
        }
        try expectEqual(try read.allSources(of: ObjectLink(members.store.pet.id, ObjectKey(1)), through: members.column("any")), [2, 3])
      }
      try members.store.write { write in
        try write.set(members.column("any"), ObjectKey(1), .string("no more"))
        try write.edit(members.column("things"), ObjectKey(1), .remove(1..<2))
        try write.delete(members.holder.id, ObjectKey(2))
        _ = try write.remove(key: "1", from: members.column("mixedMap"), ObjectKey(3))
        _ = try write.set(.null, forKey: "0", in: members.column("mixedMap"), ObjectKey(3))
      }
      try members.store.read { read in
        let left: [[Int64]] = [[], [1, 1], [], [3]]
        for (name, owners) in zip(names, left) {
          try expectEqual(try read.allSources(of: ObjectLink(person, ObjectKey(1)), through: members.column(name)), owners, "\(name) afterwards")
        }
      }
    },
    ConformanceCheck("linksInsideMixedValuesAreSeenWhenGivenAtInsert") { subject in
      let members = try MemberStore(subject)
      let link = ObjectLink(members.store.person.id, ObjectKey(ObjectLink.keyMax))
      try members.store.write { write in
        for _ in 0..<2 { try write.insert(members.holder, ["any": .object(link)]) }
        try write.insert(members.holder, ["any": .list([.object(link), .object(link)])])
      }
      try expectEqual(try members.store.read { try $0.allSources(of: link, through: members.column("any")) }, [1, 2, 3, 3])
    },
    ConformanceCheck("theBacklinksOfARelationshipAreOfItsTypeAlone") { subject in
      let members = try MemberStore(subject)
      let set = members.column("linkSet")
      try members.store.write { write in
        let key = try write.insert(members.holder)
        _ = try write.insert(member: .link(ObjectKey(5)), into: set, key)
        _ = try write.set(.link(ObjectKey(5)), forKey: "x", in: members.column("linkMap"), key)
      }
      try members.store.read { read in
        for name in ["linkSet", "linkMap"] {
          let column = members.column(name)
          try expectEqual(try read.allSources(of: ObjectKey(5), through: column), [1], name)
          try expectEqual(try read.allSources(of: ObjectLink(members.store.person.id, ObjectKey(5)), through: column), [1], name)
          try expectEqual(try read.allSources(of: ObjectLink(members.store.pet.id, ObjectKey(5)), through: column), [], name)
        }
        try expectError(.misuse, .statement, "of no relationship") {
          try read.allSources(of: ObjectLink(members.store.pet.id, ObjectKey(5)), through: members.column("numbers"))
        }
        try expectError(.misuse, .statement, "of a mixed property by key alone") {
          try read.allSources(of: ObjectKey(5), through: members.column("any"))
        }
      }
    },
    ConformanceCheck("whatIsNoMixedValueIsRefused") { subject in
      let members = try MemberStore(subject)
      try members.store.write { write in
        let key = try write.insert(members.holder)
        var tooDeep = Value.list([])
        for _ in 0..<MixedCoding.depthMax { tooDeep = Value.list([tooDeep]) }
        let bad: [Value] = [
          Value.link(ObjectKey(1)), Value.list([Value.link(ObjectKey(1))]), tooDeep, Value.object(ObjectLink(TableID(1), ObjectKey(Int64.max))),
        ]
        for value in bad {
          try expectError(.typeMismatch, .statement, "\(value)") { try write.set(members.column("any"), key, value) }
          try expectError(.typeMismatch, .statement, "\(value)") { try write.edit(members.column("things"), key, .insert(at: 0, [value])) }
        }
        let noValues: [[UInt8]] = [[], [255], [3, 1], [12, 0], [13, 9], [0]]
        for bytes in noValues {
          try expectError(.typeMismatch, .statement, "\(bytes)") {
            try bytes.withUnsafeBytes { try write.set(members.column("any"), key, bytes: $0) }
          }
        }
        try expectEqual(try write.value(members.column("any"), key), .null)
      }
    },
    ConformanceCheck("indexesOfDecimalsAndMixedValuesAreInTheOrderOfValues") { subject in
      let store = try ConformanceStore(subject)
      let schema = ObjectSchema(
        "Thing", .scalar("id", .objectId, primaryKey: true), .scalar("price", .decimal, indexed: true), .scalar("any", .mixed, indexed: true),
        .scalar("maybe", .decimal, optional: true, unique: true))
      let thing = try unwrap(try store.engine.adopt(Schema([schema]))["Thing"], "table Thing")
      var random = SeededGenerator(seed: 3)
      var rows: [ThingRow] = []
      try store.write { write in
        for i in 0..<200 {
          let price = RandomMixed.value(.decimal, &random)
          let any = random.oneIn(9) ? Value.null : RandomMixed.value(.mixed, &random)
          let id = try unwrap(ObjectId(bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, UInt8(i)]), "id")
          rows.append(ThingRow(key: try write.insert(thing, ["id": .objectId(id), "price": price, "any": any]), price: price, any: any))
        }
      }
      func sorted(_ value: KeyPath<ThingRow, Value>) -> [Int64] {
        rows.sorted { a, b in
          let order = a[keyPath: value].order(to: b[keyPath: value])
          return order == .same ? a.key < b.key : order == .before
        }.map(\.key.rawValue)
      }
      var probes: [Value] = [
        Value.null, Value.int(1), Value.double(0.1), Value.double(.nan), Value.float(-1.5), Value.string(""), Value.string("a"),
        Value.bool(true), Value.list([]), Value.double(1e300), Value.int(.max),
      ]
      for decimal in RandomMixed.decimals { probes.append(Value.decimal(decimal)) }
      try store.read { read in
        let (price, any) = (thing.index("price"), thing.index("any"))
        try expectEqual(try read.allKeys(in: price), sorted(\.price), "the order of prices")
        try expectEqual(try read.allKeys(in: any), sorted(\.any), "the order of mixed values")
        for probe in probes {
          let columns: [(IndexID, KeyPath<ThingRow, Value>)] = [(price, \ThingRow.price), (any, \ThingRow.any)]
          for (index, value) in columns {
            func keys(_ passes: (Value.Order) -> Bool) -> [Int64] {
              rows.filter { passes($0[keyPath: value].order(to: probe)) }.map(\.key.rawValue)
            }
            let same = keys { $0 == .same }
            try expectEqual(try read.allKeys(in: index, IndexRange(equal: [probe])), same, "equal to \(probe)")
            let above = Set(keys { $0 == .after })
            try expectEqual(Set(try read.allKeys(in: index, IndexRange(lower: .excluding(probe)))), above, "above \(probe)")
            let below = Set(keys { $0 != .after })
            try expectEqual(Set(try read.allKeys(in: index, IndexRange(upper: .including(probe)))), below, "not above \(probe)")
            try expectEqual(try read.count(in: index, IndexRange(upper: .including(probe))), below.count, "how many are not above \(probe)")
          }
        }
        let id = try unwrap(ObjectId(bytes: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 77]), "id")
        try expectEqual(try read.key(in: thing.index("id"), equal: [.objectId(id)]), rows[77].key)
      }
    },
    ConformanceCheck("numbersOfEveryTypeMeetDecimalsInAnIndex") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        let people: [(Int64, Double)] = [(-3, -1.5), (0, 0), (1, 0.1), (2, 1e300), (9_007_199_254_740_993, -Double.infinity), (Int64.max, Double.nan)]
        for (id, score) in people {
          try write.insert(store.person, ["id": .int(id), "score": .double(score)])
        }
      }
      try store.read { read in
        let others: [Decimal128] = ["0.5", "-2.5", "1.5", "9007199254740992.5", "1E+30"].compactMap { Decimal128($0) }
        for decimal in [RandomMixed.decimals, others].joined() {
          for name in ["id", "score"] {
            let index = store.person.index(name)
            let all = try read.allRows(store.person, [name])
            let probe = Value.decimal(decimal)
            let low: [Int64] = all.filter { $0.values[0].order(to: probe) == .before }.map { $0.key }
            let same: [Int64] = all.filter { $0.values[0].order(to: probe) == .same }.map { $0.key }
            try expectEqual(Set(try read.allKeys(in: index, IndexRange(upper: .excluding(.decimal(decimal))))), Set(low), "\(name) below \(decimal)")
            try expectEqual(try read.allKeys(in: index, IndexRange(equal: [.decimal(decimal)])), same, "\(name) equal to \(decimal)")
            try expectEqual(
              try read.allKeys(in: index, IndexRange(lower: .including(.decimal(decimal)))).count, all.count - low.count, "\(name) from \(decimal)")
          }
        }
      }
    },
    ConformanceCheck("uniqueDecimalsAreUniqueByValue") { subject in
      let store = try ConformanceStore(subject)
      let schema = ObjectSchema("Thing", .scalar("price", .decimal, optional: true, unique: true), .scalar("any", .mixed, unique: true))
      let thing = try unwrap(try store.engine.adopt(Schema([schema]))["Thing"], "table Thing")
      func decimal(_ text: String) throws -> Value { .decimal(try unwrap(Decimal128(text), text)) }
      try store.write { write in
        let first = try write.insert(thing, ["price": try decimal("1.50"), "any": .int(1)])
        try write.insert(thing)
        let error = try expectError(.uniqueViolation, .statement, "1.5") { try write.insert(thing, ["price": try decimal("1.5")]) }
        try expectEqual(error.conflictingKey, first)
        try expectEqual(error.index, thing.index("price"))
        try expectError(.uniqueViolation, .statement, "1.0") { try write.insert(thing, ["any": .double(1)]) }
        try write.set(thing.column(named: "price"), first, try decimal("1.500"))
        try expectEqual(try write.value(thing, "price", first), try decimal("1.500"))
        let second = try write.insert(thing, ["price": try decimal("2"), "any": .string("1")])
        try expectError(.uniqueViolation, .statement, "set") { try write.set(thing.column(named: "price"), second, try decimal("15E-1")) }
        try expectEqual(try write.value(thing, "price", second), try decimal("2"))
      }
    },
    ConformanceCheck("aTypeStaysEmbedded") { subject in
      let store = try ConformanceStore(subject)
      let schema = Schema([
        ObjectSchema("Address", .scalar("street", .string), .inverse("owners", of: "Customer", "home"), embedded: true),
        ObjectSchema("Customer", .link("home", to: "Address"), .list("others", ofLinksTo: "Address"), .map("named", ofLinksTo: "Address")),
      ])
      try store.engine.adopt(schema)
      let again = subject.persists ? try store.reopened() : store
      try again.read { read in
        try expectEqual(read.catalog["Address"]?.isEmbedded, true)
        try expectEqual(read.catalog["Customer"]?.isEmbedded, false)
        try expectEqual(try read.catalog.adopting(schema).steps.count, 0)
      }
    },
  ]
}
