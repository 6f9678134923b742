import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

/// A store with a type that has a set and a map of every type.
struct MemberStore {
  let store: ConformanceStore
  let holder: TableEntry

  init(_ subject: ConformanceSubject) throws {
    store = try ConformanceStore(subject)
    holder = try unwrap(try store.engine.adopt(Schema([ConformanceStore.person, ConformanceStore.pet, Self.holder]))["Holder"], "table Holder")
  }

  private init(_ store: ConformanceStore, _ holder: TableEntry) { (self.store, self.holder) = (store, holder) }

  /// The same after closing and opening, where the data outlives the engine.
  func again() throws -> MemberStore { MemberStore(store.subject.persists ? try store.reopened() : store, holder) }

  func column(_ name: String) -> ColumnID { holder.column(named: name) }

  static let holder: ObjectSchema = {
    var properties: [PropertySchema] = [
      .set("numbers", of: .int64), .map("words", of: .string), .scalar("any", .mixed), .list("things", of: .mixed),
    ]
    for type in ValueType.allCases where type != .link {
      properties.append(.set("\(type.rawValue)Set", of: type, optional: true))
      properties.append(.map("\(type.rawValue)Map", of: type, optional: true))
    }
    properties += [.set("linkSet", ofLinksTo: "Person"), .map("linkMap", ofLinksTo: "Person")]
    return ObjectSchema(name: "Holder", properties: properties)
  }()
}

extension StorageConformance {
  static let memberChecks: [ConformanceCheck] =
    ValueType.allCases.flatMap { type in
      [
        ConformanceCheck("setsKeepExtremesBitForBitInOrder(\(type.rawValue))") { try setRoundTrip(type, $0) },
        ConformanceCheck("mapsKeepExtremesBitForBitByKey(\(type.rawValue))") { try mapRoundTrip(type, $0) },
      ]
    } + [
      ConformanceCheck("aMemberIsInASetOnceAndTheFirstStays") { subject in
        let members = try MemberStore(subject)
        try members.store.write { write in
          let key = try write.insert(members.holder)
          let cases: [(String, Value, [Value])] = [
            ("doubleSet", .double(-0.0), [.double(0), .double(-0.0)]), ("doubleSet", .double(.nan), [.double(.signalingNaN)]),
            ("int64Set", .int(7), [.int(7)]), ("stringSet", .string("é"), [.string("é")]), ("int64Set", .null, [.null]),
            ("linkSet", .link(ObjectKey(3)), [.link(ObjectKey(3))]),
          ]
          for (name, first, others) in cases {
            try expect(try write.insert(member: first, into: members.column(name), key), "\(first) was there")
            let before = try write.allValues(members.holder, name, key)
            for other in others {
              try expect(try !write.insert(member: other, into: members.column(name), key), "\(other) was taken beside \(first)")
              try expect(try write.contains(member: other, in: members.column(name), key), "\(other) is not found by \(first)")
              try expectEqual(try write.allValues(members.holder, name, key), before, name)
            }
          }
          try expect(try write.insert(member: .string("e\u{301}"), into: members.column("stringSet"), key), "other bytes are another string")
        }
      },
      ConformanceCheck("membersAreTakenOutOnceAndByValue") { subject in
        let members = try MemberStore(subject)
        let column = members.column("doubleSet")
        let key = try members.store.write { write in
          let key = try write.insert(members.holder)
          for number in [3, 1, -0.0, 2] { _ = try write.insert(member: .double(number), into: column, key) }
          return key
        }
        try members.store.write { write in
          try expect(try write.remove(member: .double(0), from: column, key), "0.0 did not find −0.0")
          try expect(try !write.remove(member: .double(0), from: column, key), "a member went twice")
          try expect(try !write.remove(member: .null, from: column, key), "null was never in it")
          try expect(try write.remove(member: .double(2), from: column, key), "2 was not in it")
        }
        try expectEqual(try members.store.read { try $0.allValues(members.holder, "doubleSet", key) }, [.double(1), .double(3)])
      },
      ConformanceCheck("aMapSaysWhatSettingDid") { subject in
        let members = try MemberStore(subject)
        let column = members.column("doubleMap")
        try members.store.write { write in
          let key = try write.insert(members.holder)
          func set(_ value: Value, _ name: String) throws -> MemberChange.Kind? { try write.set(value, forKey: name, in: column, key) }
          try expectEqual(try set(.double(0), "a"), .inserted)
          try expectEqual(try set(.double(0), "a"), nil)
          try expectEqual(try set(.double(-0.0), "a"), .modified, "−0.0 after 0.0")
          try expectEqual(try set(.null, "a"), .modified)
          try expectEqual(try set(.null, "a"), nil)
          try expectEqual(try set(.null, "b"), .inserted)
          try expectEqual(try write.value(forKey: "a", in: column, key), .some(.null))
          try expectEqual(try write.value(forKey: "c", in: column, key), nil)
          try expect(try write.remove(key: "a", from: column, key), "the key was there")
          try expect(try !write.remove(key: "a", from: column, key), "the key went twice")
          try expectEqual(try write.allEntries(members.holder, "doubleMap", key), [ValueMap.Entry("b", .null)])
        }
      },
      ConformanceCheck("keysAreTheirBytes") { subject in
        let members = try MemberStore(subject)
        let keys = ["é", "e\u{301}", "", "\0", "\0\0", "a", "a\0", "ab", "b", "\u{10FFFF}", "\u{212B}", "Å", String(repeating: "k", count: 3_000)]
        let key = try members.store.write { write in
          let key = try write.insert(members.holder)
          for (i, name) in keys.enumerated() {
            try expectEqual(try write.set(.string("\(i)"), forKey: name, in: members.column("words"), key), .inserted, name)
          }
          return key
        }
        let again = try members.again()
        try again.store.read { read in
          for (i, name) in keys.enumerated() {
            try expectEqual(try read.value(forKey: name, in: again.column("words"), key), .string("\(i)"), name)
          }
          let found: [[UInt8]] = try read.allEntries(again.holder, "words", key).map { Array($0.key.utf8) }
          let bytes: [[UInt8]] = keys.map { Array($0.utf8) }
          try expectEqual(found, bytes.sorted { $0.lexicographicallyPrecedes($1) })
        }
      },
      ConformanceCheck("membersThatDoNotFitAreRefusedAndNothingChanges") { subject in
        let members = try MemberStore(subject)
        try members.store.write { write in
          let key = try write.insert(members.holder)
          _ = try write.insert(member: .int(1), into: members.column("numbers"), key)
          let badMembers: [(String, Value)] = [
            ("numbers", Value.null), ("numbers", Value.string("x")), ("int8Set", Value.int(200)), ("floatSet", Value.double(1)),
            ("linkSet", Value.null), ("objectIdSet", Value.data(Data(count: 12))), ("stringSet", Value.data(Data())),
          ]
          for (name, value) in badMembers {
            try expectError(.typeMismatch, .statement, "\(value) into \(name)") { try write.insert(member: value, into: members.column(name), key) }
          }
          let badValues: [(String, Value)] = [
            ("words", Value.null), ("words", Value.int(1)), ("int8Map", Value.int(-129)), ("uuidMap", Value.string("")),
          ]
          for (name, value) in badValues {
            try expectError(.typeMismatch, .statement, "\(value) in \(name)") {
              try write.set(value, forKey: "k", in: members.column(name), key) == nil
            }
          }
          try expectEqual(try write.allValues(members.holder, "numbers", key), [.int(1)])
          try expectEqual(try write.elementCount(members.column("words"), key), 0)
        }
      },
      ConformanceCheck("callsOfAnotherKindAreMisuse") { subject in
        let members = try MemberStore(subject)
        try members.store.write { write in
          let key = try write.insert(members.holder)
          let (set, map, list) = (members.column("numbers"), members.column("words"), members.column("things"))
          for column in [map, list, members.column("any"), members.column("none")] {
            try expectError(.misuse, .statement, "insert") { try write.insert(member: .int(1), into: column, key) }
            try expectError(.misuse, .statement, "remove") { try write.remove(member: .int(1), from: column, key) }
            try expectError(.misuse, .statement, "contains") { try write.contains(member: .int(1), in: column, key) }
          }
          for column in [set, list, members.column("any"), members.column("none")] {
            try expectError(.misuse, .statement, "set") { try write.set(.null, forKey: "", in: column, key) == nil }
            try expectError(.misuse, .statement, "remove key") { try write.remove(key: "", from: column, key) }
            try expectError(.misuse, .statement, "value") { try write.value(forKey: "", in: column, key) == nil }
          }
          for column in [set, map] {
            for edit in [ElementEdit.insert(at: 0, []), .remove(0..<0), .set(at: 0, .int(1)), .move(from: 0, to: 0)] {
              try expectError(.misuse, .statement, "\(edit)") { try write.edit(column, key, edit) }
            }
          }
          try expectError(.misuse, .statement, "position") { try write.position(of: .int(1), in: list, key) == nil }
        }
      },
      ConformanceCheck("collectionsOfDeadObjectsAreDeleted") { subject in
        let members = try MemberStore(subject)
        try members.store.write { write in
          let key = try write.insert(members.holder)
          _ = try write.insert(member: .int(1), into: members.column("numbers"), key)
          _ = try write.set(.string("x"), forKey: "a", in: members.column("words"), key)
          try write.delete(members.holder.id, key)
          let (set, map) = (members.column("numbers"), members.column("words"))
          try expectError(.objectDeleted, .statement, "insert") { try write.insert(member: .int(1), into: set, key) }
          try expectError(.objectDeleted, .statement, "remove") { try write.remove(member: .int(1), from: set, key) }
          try expectError(.objectDeleted, .statement, "contains") { try write.contains(member: .int(1), in: set, key) }
          try expectError(.objectDeleted, .statement, "position") { try write.position(of: .int(1), in: set, key) == nil }
          try expectError(.objectDeleted, .statement, "set") { try write.set(.string(""), forKey: "", in: map, key) == nil }
          try expectError(.objectDeleted, .statement, "value") { try write.value(forKey: "a", in: map, key) == nil }
          try expectError(.objectDeleted, .statement, "remove key") { try write.remove(key: "a", from: map, key) }
          try expectError(.objectDeleted, .statement, "elements") { try write.values(map, key, 0..<1) }
          try expectError(.objectDeleted, .statement, "count") { try write.elementCount(set, key) }
        }
      },
      ConformanceCheck("clearEmptiesSetsAndMaps") { subject in
        let members = try MemberStore(subject)
        let (set, map) = (members.column("linkSet"), members.column("linkMap"))
        let key = try members.store.write { write in
          let people = try members.store.addPeople(0..<3, write)
          let key = try write.insert(members.holder)
          for person in people {
            _ = try write.insert(member: .link(person), into: set, key)
            _ = try write.set(.link(person), forKey: "\(person)", in: map, key)
          }
          return key
        }
        try members.store.write { write in
          try write.edit(set, key, .clear)
          try write.edit(map, key, .clear)
          try write.edit(map, key, .clear)
        }
        try members.store.read { read in
          try expectEqual(try read.elementCount(set, key), 0)
          try expectEqual(try read.allEntries(members.holder, "linkMap", key), [])
          try expectEqual(try read.allSources(of: ObjectKey(1), through: set), [])
          try expectEqual(try read.allSources(of: ObjectKey(1), through: map), [])
        }
      },
      ConformanceCheck("aSavepointGivesMembersBack") { subject in
        let members = try MemberStore(subject)
        let (set, map, any) = (members.column("linkSet"), members.column("mixedMap"), members.column("any"))
        let key = try members.store.write { write in
          let people = try members.store.addPeople(0..<3, write)
          let key = try write.insert(members.holder)
          _ = try write.insert(member: .link(people[0]), into: set, key)
          _ = try write.set(.object(ObjectLink(members.store.person.id, people[0])), forKey: "a", in: map, key)
          return key
        }
        try members.store.write { write in
          let before = try Picture(write)
          for nested in [false, true] {
            try write.beginSavepoint()
            _ = try write.insert(member: .link(ObjectKey(2)), into: set, key)
            _ = try write.set(.list([.object(ObjectLink(members.store.person.id, ObjectKey(2)))]), forKey: "a", in: map, key)
            if nested { try write.beginSavepoint() }
            _ = try write.remove(member: .link(ObjectKey(1)), from: set, key)
            _ = try write.remove(key: "a", from: map, key)
            try write.set(any, key, .object(ObjectLink(members.store.person.id, ObjectKey(1))))
            try write.delete(members.holder.id, key)
            if nested { try write.rollbackToSavepoint() }
            try write.rollbackToSavepoint()
            try expectSame(try Picture(write), before, "after the rollback")
          }
        }
      },
      ConformanceCheck("tenThousandMembersAreFoundInOrder") { subject in
        let members = try MemberStore(subject)
        let (set, map) = (members.column("int64Set"), members.column("int64Map"))
        var random = SeededGenerator(seed: 11)
        var model: Set<Int64> = []
        let key = try members.store.write { try $0.insert(members.holder) }
        for round in 0..<4 {
          try members.store.write { write in
            for _ in 0..<2_500 {
              let number = Int64(random.below(20_000)) - 10_000
              if round > 1, random.oneIn(2) {
                try expectEqual(try write.remove(member: .int(number), from: set, key), model.remove(number) != nil, "remove \(number)")
                _ = try write.remove(key: "\(number)", from: map, key)
              } else {
                try expectEqual(try write.insert(member: .int(number), into: set, key), model.insert(number).inserted, "insert \(number)")
                _ = try write.set(.int(number), forKey: "\(number)", in: map, key)
              }
            }
          }
        }
        let again = try members.again()
        try again.store.read { read in
          let sorted = model.sorted()
          let numbers: [Value] = sorted.map { Value.int($0) }
          try expect(try read.allValues(again.holder, "int64Set", key) == numbers, "the set differs")
          let texts: [String] = sorted.map { String($0) }
          let names: [String] = texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
          try expect(try read.allEntries(again.holder, "int64Map", key).map(\.key) == names, "the keys differ")
          for position in [0, 1, 499, 500, 501, sorted.count / 2, sorted.count - 1] where position < sorted.count {
            try expectEqual(try read.position(of: .int(sorted[position]), in: again.column("int64Set"), key), position)
            try expectEqual(try read.position(of: .string(names[position]), in: again.column("int64Map"), key), position)
            try expectEqual(try read.value(forKey: names[position], in: again.column("int64Map"), key), Int64(names[position]).map { .int($0) })
          }
          try expectEqual(try read.position(of: .int(20_000), in: again.column("int64Set"), key), nil)
          try expectEqual(try read.values(again.column("int64Set"), key, 700..<703), Array(numbers[700..<703]))
          try expectEqual(try read.entries(again.column("int64Map"), key, 700..<703).map(\.key), Array(names[700..<703]))
          try expectEqual(try read.values(again.column("int64Set"), key, -5..<2), Array(numbers[0..<2]))
        }
      },
      ConformanceCheck("longValuesInAMapComeBackWhole") { subject in
        let members = try MemberStore(subject)
        let column = members.column("dataMap")
        let key = try members.store.write { write in
          let key = try write.insert(members.holder)
          for i in 0..<20 { _ = try write.set(.data(Data(repeating: UInt8(i), count: i * 9_000)), forKey: "k\(i)", in: column, key) }
          _ = try write.set(.data(Extremes.megabyte), forKey: "m", in: column, key)
          return key
        }
        try members.store.write { write in _ = try write.set(.data(Data()), forKey: "k19", in: column, key) }
        let again = try members.again()
        try again.store.read { read in
          for i in 0..<19 {
            try expect(try read.value(forKey: "k\(i)", in: again.column("dataMap"), key) == .data(Data(repeating: UInt8(i), count: i * 9_000)), "k\(i)")
          }
          try expectEqual(try read.value(forKey: "k19", in: again.column("dataMap"), key), .data(Data()))
          try expect(try read.value(forKey: "m", in: again.column("dataMap"), key) == .data(Extremes.megabyte), "a megabyte differs")
        }
      },
    ]

  private static func setRoundTrip(_ type: ValueType, _ subject: ConformanceSubject) throws {
    let members = try MemberStore(subject)
    let name = "\(type.rawValue)Set"
    var given: [Value] = Array(Extremes.of(type).reversed())
    if type != .link { given.append(Value.null) }
    // What is the same as one before it does not come in.
    var expected: [Value] = []
    for value in given where !expected.contains(where: { $0.order(to: value) == .same }) { expected.append(value) }
    expected.sort { $0.order(to: $1) == .before }
    let key = try members.store.write { write in
      try members.store.addPeople(0..<2, write)
      let key = try write.insert(members.holder)
      for value in given { _ = try write.insert(member: value, into: members.column(name), key) }
      try expectEqual(try write.allValues(members.holder, name, key), expected, "in the write")
      return key
    }
    let again = try members.again()
    try again.store.read { read in
      try expectEqual(try read.allValues(again.holder, name, key), expected)
      for (position, value) in expected.enumerated() {
        try expect(try read.contains(member: value, in: again.column(name), key), "\(value) is not found")
        try expectEqual(try read.position(of: value, in: again.column(name), key), position, "the place of \(value)")
      }
    }
  }

  private static func mapRoundTrip(_ type: ValueType, _ subject: ConformanceSubject) throws {
    let members = try MemberStore(subject)
    let name = "\(type.rawValue)Map"
    var entries: [ValueMap.Entry] = []
    for (i, value) in Extremes.of(type).enumerated() { entries.append(ValueMap.Entry("key \(i)", value)) }
    entries.append(ValueMap.Entry("null", Value.null))
    let key = try members.store.write { write in
      try members.store.addPeople(0..<2, write)
      let key = try write.insert(members.holder)
      for entry in entries.reversed() { _ = try write.set(entry.value, forKey: entry.key, in: members.column(name), key) }
      return key
    }
    let again = try members.again()
    try again.store.read { read in
      try expectEqual(try read.allEntries(again.holder, name, key), ValueMap(entries).entries)
      for entry in entries {
        try expectEqual(try read.value(forKey: entry.key, in: again.column(name), key), entry.value, entry.key)
      }
    }
  }
}
