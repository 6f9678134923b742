import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let listChecks: [ConformanceCheck] = [
    ConformanceCheck("everyEditDoesWhatItSays") { subject in
      let store = try ConformanceStore(subject)
      let edits: [(ElementEdit, [Int64])] = [
        (.insert(at: 0, ints([1, 2, 3])), [1, 2, 3]), (.insert(at: 3, ints([4])), [1, 2, 3, 4]),
        (.insert(at: 1, ints([9, 8])), [1, 9, 8, 2, 3, 4]), (.insert(at: 2, []), [1, 9, 8, 2, 3, 4]),
        (.set(at: 0, .int(7)), [7, 9, 8, 2, 3, 4]), (.set(at: 5, .int(5)), [7, 9, 8, 2, 3, 5]),
        (.move(from: 0, to: 5), [9, 8, 2, 3, 5, 7]), (.move(from: 5, to: 0), [7, 9, 8, 2, 3, 5]),
        (.move(from: 1, to: 3), [7, 8, 2, 9, 3, 5]), (.move(from: 3, to: 1), [7, 9, 8, 2, 3, 5]),
        (.move(from: 2, to: 2), [7, 9, 8, 2, 3, 5]), (.remove(1..<3), [7, 2, 3, 5]), (.remove(2..<2), [7, 2, 3, 5]),
        (.remove(3..<4), [7, 2, 3]), (.remove(0..<1), [2, 3]), (.clear, []), (.clear, []), (.remove(0..<0), []),
        (.insert(at: 0, ints([1, 1, 1])), [1, 1, 1]),
      ]
      let key = try store.write { try $0.insert(store.person) }
      let column = store.person.column(named: "numbers")
      for (edit, expected) in edits {
        try store.write { write in
          try write.edit(column, key, edit)
          try expectEqual(try write.allValues(store.person, "numbers", key), ints(expected), "in the write after \(edit)")
        }
        try expectEqual(try store.read { try $0.allValues(store.person, "numbers", key) }, ints(expected), "after \(edit)")
      }
    },
    ConformanceCheck("positionsOutOfRangeAreRefusedAndTheListStays") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        let key = try write.insert(store.person)
        let column = store.person.column(named: "numbers")
        try write.edit(column, key, .insert(at: 0, ints([1, 2, 3])))
        let bad: [ElementEdit] = [
          .insert(at: 4, ints([1])), .insert(at: -1, ints([1])), .remove(2..<4), .remove(-1..<1), .remove(3..<4),
          .set(at: 3, .int(1)), .set(at: -1, .int(1)), .move(from: 0, to: 3), .move(from: 3, to: 0), .move(from: -1, to: 0),
          .move(from: 0, to: -1), .remove(0..<Int.max), .insert(at: Int.max, ints([1])), .insert(at: Int.min, []),
        ]
        for edit in bad {
          try expectError(.indexOutOfRange, .statement, "\(edit)") { try write.edit(column, key, edit) }
          try expectEqual(try write.allValues(store.person, "numbers", key), ints([1, 2, 3]), "after \(edit)")
        }
      }
    },
    ConformanceCheck("elementsThatDoNotFitAreRefusedAndTheListStays") { subject in
      let store = try ConformanceStore(subject)
      try store.write { write in
        let key = try write.insert(store.zoo)
        let bad: [(String, Value)] = [
          ("int8List", .int(200)), ("int8List", .null), ("int8List", .string("x")), ("stringList", .null),
          ("stringList", .int(1)), ("boolList", .int(1)), ("doubleList", .float(1)), ("dataList", .string("")),
          ("int32MaybeList", .int(1 << 40)), ("uuidList", .data(Data(count: 16))), ("dateList", .double(1)),
        ]
        for (name, value) in bad {
          let column = store.zoo.column(named: name)
          try expectError(.typeMismatch, .statement, "\(value) in \(name)") { try write.edit(column, key, .insert(at: 0, [value])) }
          try expectEqual(try write.elementCount(column, key), 0, name)
        }
        let column = store.zoo.column(named: "int8List")
        try write.edit(column, key, .insert(at: 0, ints([1, 2])))
        try expectError(.typeMismatch, .statement, "a late misfit") { try write.edit(column, key, .insert(at: 1, ints([3, 4, 500]))) }
        try expectError(.typeMismatch, .statement, "set") { try write.edit(column, key, .set(at: 0, .int(-129))) }
        try expectEqual(try write.allValues(store.zoo, "int8List", key), ints([1, 2]))
      }
    },
    ConformanceCheck("tenThousandElementsCanBeEditedAnywhere") { subject in
      let store = try ConformanceStore(subject)
      var model = ints(Array(0..<10_000))
      let key = try store.write { write in
        let key = try write.insert(store.person)
        try write.edit(store.person.column(named: "numbers"), key, .insert(at: 0, model))
        return key
      }
      var random = SeededGenerator(seed: 5)
      for round in 0..<5 {
        try store.write { write in
          for _ in 0..<40 {
            let edit = randomEdit(model.count, &random) { .int(Int64($0.below(1_000_000)) - 500_000) }
            try write.edit(store.person.column(named: "numbers"), key, edit)
            apply(edit, to: &model)
          }
          if round % 2 == 0 {
            try expect(try write.allValues(store.person, "numbers", key) == model, "the write sees another list in round \(round)")
          }
        }
        try expect(try store.read { try $0.allValues(store.person, "numbers", key) } == model, "another list after round \(round)")
      }
      try store.write { try $0.edit(store.person.column(named: "numbers"), key, .clear) }
      try expectEqual(try store.read { try $0.elementCount(store.person.column(named: "numbers"), key) }, 0)
    },
    ConformanceCheck("aListGrowsFromNothingByManySmallEdits") { subject in
      let store = try ConformanceStore(subject)
      var model: [Value] = []
      let key = try store.write { try $0.insert(store.person) }
      let column = store.person.column(named: "words")
      var random = SeededGenerator(seed: 6)
      for _ in 0..<25 {
        try store.write { write in
          for _ in 0..<30 {
            let value: Value = random.oneIn(5) ? .null : .string(String(repeating: "w", count: random.below(80)))
            let position = random.oneIn(2) ? model.count : random.below(model.count + 1)
            try write.edit(column, key, .insert(at: position, [value]))
            model.insert(value, at: position)
          }
        }
      }
      try expect(try store.read { try $0.allValues(store.person, "words", key) } == model, "the list differs")
    },
    ConformanceCheck("rangesOfElementsAreClamped") { subject in
      let store = try ConformanceStore(subject)
      let key = try store.write { write in
        let key = try write.insert(store.person)
        try write.edit(store.person.column(named: "numbers"), key, .insert(at: 0, ints(Array(0..<3_000))))
        return key
      }
      let column = store.person.column(named: "numbers")
      try store.read { read in
        for range in [0..<0, 0..<1, 2_999..<3_000, 2_990..<5_000, 3_000..<3_001, 5_000..<6_000, 0..<Int.max, 1_000..<2_100, -5..<3, -5..<(-1), Int.min..<Int.max] {
          let expected = (0..<3_000).filter { range.contains($0) }.map { Value.int(Int64($0)) }
          try expectEqual(try read.values(column, key, range), expected, "\(range)")
        }
      }
    },
    ConformanceCheck("elementsStopWhenToldTo") { subject in
      let store = try ConformanceStore(subject)
      let key = try store.write { write in
        let key = try write.insert(store.person)
        try write.edit(store.person.column(named: "numbers"), key, .insert(at: 0, ints(Array(0..<9_000))))
        return key
      }
      try store.read { read in
        var batches = 0
        try read.elements(store.person.column(named: "numbers"), key, 0..<9_000) { batch in
          batches += 1
          return .stop
        }
        try expectEqual(batches, 1)
      }
    },
    ConformanceCheck("listsGoWithTheirObjectAndOthersStay") { subject in
      let store = try ConformanceStore(subject)
      let column = store.person.column(named: "numbers")
      let keys = try store.write { write in
        let keys = try store.addPeople(0..<60, write)
        for key in keys { try write.edit(column, key, .insert(at: 0, ints(Array(0..<Int64(key.rawValue * 20))))) }
        return keys
      }
      try store.write { write in for key in keys where key.rawValue % 2 == 0 { try write.delete(store.person.id, key) } }
      try store.read { read in
        for key in keys where key.rawValue % 2 == 1 {
          try expectEqual(try read.allValues(store.person, "numbers", key).count, Int(key.rawValue * 20), "list of \(key)")
        }
      }
      let new = try store.write { try store.addPeople(100..<101, $0)[0] }
      try expectEqual(try store.read { try $0.elementCount(column, new) }, 0)
    },
    ConformanceCheck("severalListsOfOneObjectAreApart") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { write in
        let keys = try store.addPeople(0..<3, write)
        try write.edit(store.person.column(named: "numbers"), keys[0], .insert(at: 0, ints([1, 2])))
        try write.edit(store.person.column(named: "words"), keys[0], .insert(at: 0, [.string("x"), .null]))
        try write.edit(store.person.column(named: "friends"), keys[0], .insert(at: 0, [.link(keys[1]), .link(keys[1])]))
        try write.edit(store.person.column(named: "numbers"), keys[1], .insert(at: 0, ints([3])))
        return keys
      }
      try store.read { read in
        try expectEqual(try read.allValues(store.person, "numbers", keys[0]), ints([1, 2]))
        try expectEqual(try read.allValues(store.person, "words", keys[0]), [.string("x"), .null])
        try expectEqual(try read.allValues(store.person, "friends", keys[0]), [.link(keys[1]), .link(keys[1])])
        try expectEqual(try read.allValues(store.person, "numbers", keys[1]), ints([3]))
        try expectEqual(try read.allValues(store.person, "numbers", keys[2]), [])
      }
    },
    ConformanceCheck("bigElementsKeepTheirPlaces") { subject in
      let store = try ConformanceStore(subject)
      var model = (0..<8).map { Value.data(Data(repeating: UInt8($0), count: $0 * 30_000)) }
      let column = store.zoo.column(named: "dataList")
      let key = try store.write { write in
        let key = try write.insert(store.zoo)
        try write.edit(column, key, .insert(at: 0, model))
        return key
      }
      try store.write { write in
        for edit in [ElementEdit.move(from: 7, to: 1), .set(at: 3, .data(Data())), .remove(5..<6), .insert(at: 2, [.data(Data([1]))])] {
          try write.edit(column, key, edit)
          apply(edit, to: &model)
        }
      }
      try expect(try store.read { try $0.allValues(store.zoo, "dataList", key) } == model, "the list differs")
    },
  ]

  static func ints(_ numbers: [Int64]) -> [Value] { numbers.map { .int($0) } }

  static func apply(_ edit: ElementEdit, to list: inout [Value]) {
    switch edit {
    case .insert(let position, let values): list.insert(contentsOf: values, at: position)
    case .remove(let range): list.removeSubrange(range)
    case .set(let position, let value): list[position] = value
    case .move(let from, let to): list.insert(list.remove(at: from), at: to)
    case .clear: list = []
    }
  }

  static func randomEdit(
    _ count: Int, _ random: inout SeededGenerator, _ value: (inout SeededGenerator) -> Value
  ) -> ElementEdit {
    let position = random.below(count + 1)
    switch count == 0 ? 0 : random.below(5) {
    case 0: return .insert(at: position, (0..<random.below(4)).map { _ in value(&random) })
    case 1: return .insert(at: position, [value(&random)])
    case 2: return .remove(position..<min(count, position + random.below(4)))
    case 3: return .set(at: random.below(count), value(&random))
    default: return .move(from: random.below(count), to: random.below(count))
    }
  }
}
