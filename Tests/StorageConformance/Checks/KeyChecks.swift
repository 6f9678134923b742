import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let keyChecks: [ConformanceCheck] = [
    ConformanceCheck("keysBeginAtOneInEachTableAndGrow") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        try expectEqual(try store.addPeople(0..<5, write).map(\.rawValue), [1, 2, 3, 4, 5])
        try expectEqual(try write.insert(store.pet), ObjectKey(1))
      }
      try store.write { try expectEqual(try $0.insert(store.pet), ObjectKey(2)) }
    },
    ConformanceCheck("theKeyOfADeletedObjectIsNotGivenAgain") { subject in
      let store = try ConformanceStore(subject)
      let last = try store.write { write in
        let keys = try (0..<3).map { _ in try write.insert(store.pet) }
        try write.delete(store.pet.id, keys[2])
        return keys[2]
      }
      try store.write { write in
        let next = try write.insert(store.pet)
        try expect(next > last, "\(next) after \(last)")
        try write.delete(store.pet.id, next)
        for key in [1, 2] { try write.delete(store.pet.id, ObjectKey(Int64(key))) }
      }
      let again = subject.persists ? try store.reopened() : store
      try again.write { write in
        let next = try write.insert(store.pet)
        try expect(next.rawValue > last.rawValue + 1, "\(next) is used again in an empty table")
      }
    },
    ConformanceCheck("deletingManyAtOnceDeletesThoseThatLiveAndSaysWhich") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        try store.addPeople(0..<40, write)
        for i in 0..<700 { try write.insert(store.pet, ["name": .string("pet \(i)"), "owner": .link(ObjectKey(Int64(i % 40) + 1))]) }
        try write.delete(store.pet.id, ObjectKey(7))
      }
      // Runs and single ones, in no order, twice, gone, never given out, and no keys at all.
      let wanted = Array(Int64(300)...400) + stride(from: Int64(1), to: 299, by: 2) + [7, 7, 9, 9, 699, 700, 10_000, 0, -3, .max]
      let living = Set(wanted.filter { (1...700).contains($0) && $0 != 7 })
      let kept = (Int64(1)...700).filter { !living.contains($0) && $0 != 7 }
      try store.write { write in
        try expectEqual(Set(try write.delete(store.pet.id, all: wanted)), living)
        try expectEqual(try write.delete(store.pet.id, all: wanted).count, 0)
        try expectEqual(try write.count(store.pet.id), kept.count)
        try write.beginSavepoint()
        try expectEqual(try write.delete(store.pet.id, all: Array(kept.prefix(50))).count, 50)
        try write.rollbackToSavepoint()
        try expectEqual(try write.count(store.pet.id), kept.count)
        // Objects with lists of their own.
        try expectEqual(Set(try write.delete(store.person.id, all: [3, 4, 3, 99])), [3, 4])
        try expectError(.misuse, nil, "delete") { try write.delete(TableID(999), all: [1]) }
      }
      try store.read { read in
        try expectEqual(try read.allRows(store.pet, []).map(\.key), kept.map { Int64($0) })
        try expectEqual(try read.count(store.person.id), 38)
        var sources: [Int64] = []
        try read.sources(of: ObjectKey(1), through: store.pet.column(named: "owner")) { keys in
          sources += keys
          return .proceed
        }
        try expectEqual(sources, kept.filter { $0 % 40 == 1 })
      }
    },
    ConformanceCheck("keysAreReservedAtOnceHoweverManyThereAre") { subject in
      let store = try ConformanceStore(subject)
      let far: Int64 = 1 << 46
      try store.write { write in
        try expectEqual(try write.insert(store.pet), ObjectKey(1))
        for key in [3, 3, 2, 0, -7, 500, Int64.min, 5_000, far] { try write.reserveKeys(in: store.pet.id, below: ObjectKey(key)) }
        try expectEqual(try write.insert(store.pet, ["name": .string("far")]), ObjectKey(far))
        try expectEqual(try write.insert(store.pet), ObjectKey(far + 1))
        try expectEqual(try write.count(store.pet.id), 3)
        for key in [ObjectLink.keyMax + 1, .max] {
          try expectError(.tooLarge, .statement, "reserving") { try write.reserveKeys(in: store.pet.id, below: ObjectKey(key)) }
        }
        try expectError(.misuse, nil, "reserving") { try write.reserveKeys(in: TableID(999), below: ObjectKey(1)) }
        try write.reserveKeys(in: store.person.id, below: ObjectKey(9))
      }
      let again = subject.persists ? try store.reopened() : store
      try again.read { try expectEqual(try $0.allRows(store.pet, []).map(\.key), [1, far, far + 1]) }
      try again.write { write in
        try expectEqual(try write.insert(store.pet), ObjectKey(far + 2))
        try expectEqual(try write.insert(store.person), ObjectKey(9))
        try expectEqual(try write.value(store.pet.column(named: "name"), ObjectKey(far)), .string("far"))
        try write.delete(store.pet.id, ObjectKey(far))
        try expectEqual(try write.contains(store.pet.id, ObjectKey(far - 1)), false)
      }
    },
    ConformanceCheck("theKeysOfARolledBackWriteStayUsed") { subject in
      let store = try ConformanceStore(subject)
      let lost = try store.writeInVain { write in try (0..<10).map { _ in try write.insert(store.pet) } }
      let last = try unwrap(lost.last, "key")
      let next = try store.write { try $0.insert(store.pet) }
      try expect(next > last, "\(next) after \(last) was given out in vain")
    },
    ConformanceCheck("theKeysOfARolledBackSavepointStayUsed") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        try write.beginSavepoint()
        let lost = try (0..<5).map { _ in try write.insert(store.pet) }
        try write.rollbackToSavepoint()
        let next = try write.insert(store.pet)
        try expect(next > (lost.last ?? next), "\(next) after \(lost)")
        try expectEqual(try write.count(store.pet.id), 1)
      }
      try expectEqual(try store.read { try $0.allRows(store.pet, []).map(\.key) }, [6])
    },
    ConformanceCheck("keysAfterAGapAreReadBack") { subject in
      let store = try ConformanceStore(subject)
      for round in 0..<4 {
        try store.writeInVain { write in for _ in 0..<700 { try write.insert(store.pet) } }
        try store.write { write in
          for i in 0..<3 { try write.insert(store.pet, ["name": .string("pet \(round) \(i)")]) }
        }
      }
      try store.read { read in
        let rows = try read.allRows(store.pet, ["name"])
        try expectEqual(rows.count, 12)
        try expectEqual(rows.map { $0.values[0] }, (0..<4).flatMap { r in (0..<3).map { .string("pet \(r) \($0)") } })
        for row in rows { try expectEqual(try read.value(store.pet, "name", ObjectKey(row.key)), row.values[0]) }
      }
    },
    ConformanceCheck("reopeningKeepsKeysGrowing", needs: [.persistence]) { subject in
      let store = try ConformanceStore(subject)
      let first = try store.write { write in try (0..<3).map { _ in try write.insert(store.pet) } }
      try store.write { try $0.delete(store.pet.id, first[2]) }
      let next = try store.reopened().write { try $0.insert(store.pet) }
      try expect(next > first[2], "\(next) after \(first[2])")
    },
  ]
}
