import StorageInterface
import StoreValues
import VivariumTestSupport

extension StorageConformance {
  static let backlinkChecks: [ConformanceCheck] = [
    ConformanceCheck("aToOneLinkIsSeenFromItsTarget") { subject in
      let store = try ConformanceStore(subject)
      let best = store.person.column(named: "best")
      let keys = try store.write { write in
        let keys = try store.addPeople(0..<6, write)
        for key in keys.dropFirst(2) { try write.set(best, key, .link(keys[0])) }
        try expectEqual(try write.allSources(of: keys[0], through: best), [3, 4, 5, 6], "in the write")
        return keys
      }
      try expectEqual(try store.read { try $0.allSources(of: keys[0], through: best) }, [3, 4, 5, 6])
      try store.write { write in
        try write.set(best, keys[3], .link(keys[1]))
        try write.set(best, keys[4], .null)
        try write.set(best, keys[5], .link(keys[0]))
      }
      try store.read { read in
        try expectEqual(try read.allSources(of: keys[0], through: best), [3, 6])
        try expectEqual(try read.allSources(of: keys[1], through: best), [4])
        try expectEqual(try read.allSources(of: keys[2], through: best), [])
      }
    },
    ConformanceCheck("aLinkGivenAtInsertIsSeen") { subject in
      let store = try ConformanceStore(subject)
      let owner = store.pet.column(named: "owner")
      let keys = try store.write { write in
        let people = try store.addPeople(0..<2, write)
        for i in 0..<5 { try write.insert(store.pet, ["owner": .link(people[i % 2])]) }
        return people
      }
      try store.read { read in
        try expectEqual(try read.allSources(of: keys[0], through: owner), [1, 3, 5])
        try expectEqual(try read.allSources(of: keys[1], through: owner), [2, 4])
      }
    },
    ConformanceCheck("aListThatHoldsATargetTwiceGivesItsOwnerTwice") { subject in
      let store = try ConformanceStore(subject)
      let friends = store.person.column(named: "friends")
      let keys = try store.write { write in
        let keys = try store.addPeople(0..<4, write)
        try write.edit(friends, keys[1], .insert(at: 0, [.link(keys[0]), .link(keys[2]), .link(keys[0]), .link(keys[0])]))
        try write.edit(friends, keys[3], .insert(at: 0, [.link(keys[0])]))
        return keys
      }
      func sources() throws -> [Int64] { try store.read { try $0.allSources(of: keys[0], through: friends) } }
      try expectEqual(try sources(), [2, 2, 2, 4])
      let edits: [(ElementEdit, [Int64])] = [
        (.remove(0..<1), [2, 2, 4]), (.set(at: 0, .link(keys[0])), [2, 2, 2, 4]), (.move(from: 0, to: 2), [2, 2, 2, 4]),
        (.set(at: 1, .link(keys[3])), [2, 2, 4]), (.insert(at: 1, [.link(keys[0]), .link(keys[0])]), [2, 2, 2, 2, 4]),
        (.remove(0..<3), [2, 4]), (.clear, [4]),
      ]
      for (edit, expected) in edits {
        try store.write { write in
          try write.edit(friends, keys[1], edit)
          try expectEqual(try write.allSources(of: keys[0], through: friends), expected, "in the write after \(edit)")
        }
        try expectEqual(try sources(), expected, "after \(edit)")
      }
    },
    ConformanceCheck("theBacklinksOfEachColumnAreApart") { subject in
      let store = try ConformanceStore(subject)
      let keys = try store.write { write in
        let keys = try store.addPeople(0..<3, write)
        try write.set(store.person.column(named: "best"), keys[1], .link(keys[0]))
        try write.edit(store.person.column(named: "friends"), keys[2], .insert(at: 0, [.link(keys[0])]))
        let pet = try write.insert(store.pet, ["owner": .link(keys[0])])
        try write.edit(store.person.column(named: "pets"), keys[0], .insert(at: 0, [.link(pet)]))
        return keys
      }
      try store.read { read in
        try expectEqual(try read.allSources(of: keys[0], through: store.person.column(named: "best")), [2])
        try expectEqual(try read.allSources(of: keys[0], through: store.person.column(named: "friends")), [3])
        try expectEqual(try read.allSources(of: keys[0], through: store.pet.column(named: "owner")), [1])
        try expectEqual(try read.allSources(of: ObjectKey(1), through: store.person.column(named: "pets")), [1])
      }
    },
    ConformanceCheck("anObjectMayPointToItself") { subject in
      let store = try ConformanceStore(subject)
      let best = store.person.column(named: "best")
      let friends = store.person.column(named: "friends")
      let key = try store.write { write in
        let key = try write.insert(store.person)
        try write.set(best, key, .link(key))
        try write.edit(friends, key, .insert(at: 0, [.link(key), .link(key)]))
        return key
      }
      try store.read { read in
        try expectEqual(try read.allSources(of: key, through: best), [1])
        try expectEqual(try read.allSources(of: key, through: friends), [1, 1])
      }
      try store.write { try $0.delete(store.person.id, key) }
      try store.read { read in
        try expectEqual(try read.allSources(of: key, through: best), [])
        try expectEqual(try read.allSources(of: key, through: friends), [])
      }
    },
    ConformanceCheck("deletingAnOwnerTakesItsBacklinks") { subject in
      let store = try ConformanceStore(subject)
      let best = store.person.column(named: "best")
      let friends = store.person.column(named: "friends")
      let keys = try store.write { write in
        let keys = try store.addPeople(0..<50, write)
        for key in keys.dropFirst() {
          try write.set(best, key, .link(keys[0]))
          try write.edit(friends, key, .insert(at: 0, [.link(keys[0]), .link(key), .link(keys[0])]))
        }
        return keys
      }
      try store.write { write in
        for key in keys.dropFirst(3) { try write.delete(store.person.id, key) }
        try expectEqual(try write.allSources(of: keys[0], through: friends), [2, 2, 3, 3], "in the write")
      }
      try store.read { read in
        try expectEqual(try read.allSources(of: keys[0], through: best), [2, 3])
        try expectEqual(try read.allSources(of: keys[0], through: friends), [2, 2, 3, 3])
      }
    },
    ConformanceCheck("nothingPointsToATargetThatDoesNotLive") { subject in
      let store = try ConformanceStore(subject)
      let best = store.person.column(named: "best")
      let key = try store.write { try $0.insert(store.person) }
      try store.write { try $0.delete(store.person.id, key) }
      try store.read { read in
        for target in [key.rawValue, 0, -1, 77, .max, .min] {
          try expectEqual(try read.allSources(of: ObjectKey(target), through: best), [], "sources of \(target)")
        }
      }
    },
    ConformanceCheck("thousandsOfBacklinksComeInOrderAndStop") { subject in
      let store = try ConformanceStore(subject)
      let owner = store.pet.column(named: "owner")
      let target = try store.write { write in
        let keys = try store.addPeople(0..<2, write)
        for i in 0..<5_000 { try write.insert(store.pet, ["owner": .link(keys[i % 5 == 0 ? 1 : 0])]) }
        return keys[0]
      }
      let expected = (Int64(1)...5_000).filter { $0 % 5 != 1 }
      try store.read { read in
        try expectEqual(try read.allSources(of: target, through: owner), expected)
        var blocks = 0
        try read.sources(of: target, through: owner) { block in
          blocks += 1
          return .stop
        }
        try expectEqual(blocks, 1)
      }
      try store.write { write in
        for key in expected.prefix(3_900) { try write.set(owner, ObjectKey(key), .null) }
      }
      try expectEqual(try store.read { try $0.allSources(of: target, through: owner) }, Array(expected.dropFirst(3_900)))
    },
    ConformanceCheck("backlinksFollowRandomEdits") { subject in
      let store = try ConformanceStore(subject)
      let friends = store.person.column(named: "friends")
      let keys = try store.write { try store.addPeople(0..<12, $0) }
      var model: [Int64: [Value]] = [:]
      var random = SeededGenerator(seed: 8)
      for round in 0..<12 {
        let check: (any StorageReading) throws -> Void = { tx in
          for target in keys {
            let expected = keys.flatMap { owner in
              (model[owner.rawValue] ?? []).filter { $0 == .link(target) }.map { _ in owner.rawValue }
            }
            try expectEqual(try tx.allSources(of: target, through: friends), expected, "round \(round), target \(target)")
          }
        }
        try store.write { write in
          for _ in 0..<20 {
            let owner = keys[random.below(keys.count)]
            let edit = randomEdit(model[owner.rawValue]?.count ?? 0, &random) { .link(keys[$0.below(4)]) }
            try write.edit(friends, owner, edit)
            apply(edit, to: &model[owner.rawValue, default: []])
          }
          if round % 3 == 0 { try check(write) }
        }
        try store.read(check)
      }
    },
  ]
}
