import Storage
import TestSupport
import Values

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
