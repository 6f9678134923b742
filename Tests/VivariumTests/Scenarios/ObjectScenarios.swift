import StoreValues
import Testing
import Vivarium

@Suite struct ObjectScenarios {
  @Test("object-05: an object that is deleted before the first turn") func object05() throws {
    let scene = try ThingScene()
    let heard = HeardObject(\.name)
    let token = try #require(scene.all.first).observe { heard.hear($0) }
    try scene.other.write { try scene.other.delete(try scene.item(0)) }
    scene.store.refresh()
    try scene.set([1: 3])
    scene.store.refresh()
    #expect(heard.take() == ["deleted"])
    token.stop()
  }

  @Test("object-07: an object that is gone cannot be observed") func object07() throws {
    let scene = try ThingScene()
    let item = try #require(scene.all.first)
    try scene.store.write { try scene.store.delete(item) }
    let heard = HeardObject(\.name)
    let token = item.observe { heard.hear($0) }
    scene.store.refresh()
    #expect(heard.take() == ["error objectDeleted"])
    token.stop()
  }

  @Test("object-08, object-09: deletion is told whatever the filter, and nothing else without one") func object08() throws {
    let scene = try ThingScene()
    let item = try #require(scene.all.first)
    let (own, none) = (HeardObject(\.name), HeardObject(\.name))
    let tokens = [try item.observe(observingProperties: ["number"]) { own.hear($0) }, item.observe(keyPaths: []) { none.hear($0) }]
    try scene.set([0: 50])
    try scene.other.write { try scene.item(0).link?.value = 9 }
    scene.store.refresh()
    #expect(own.take() == [] && none.take() == [])
    try scene.other.write { try scene.other.delete(try scene.item(0)) }
    scene.store.refresh()
    #expect(own.take() == ["deleted"] && none.take() == ["deleted"])
    for token in tokens { token.stop() }
  }

  @Test("object-10: links to an object are no property of it, without a path") func object10() throws {
    let scene = try ThingScene()
    let goal = try #require(scene.store.objects(Goal.self).first)
    let heard = HeardObject(\.name)
    let token = goal.observe(keyPaths: []) { heard.hear($0) }
    let mine = try #require(scene.other.resolve(goal.reference))
    try scene.other.write { try scene.item(5).link = mine }
    try scene.other.write { try scene.item(0).link = nil }
    scene.store.refresh()
    #expect(heard.take() == [])
    token.stop()
  }

  @Test("object-14: a mixed value of another type that compares equal is another value") func object14() throws {
    let scene = try Scene()
    let owner = Owner()
    try scene.store.write {
      try scene.store.add(owner)
      owner.mixed = AnyValue(true)
    }
    let heard = HeardObject(\.name)
    let token = owner.observe { heard.hear($0) }
    try scene.store.write { owner.mixed = AnyValue(1) }
    scene.store.refresh()
    #expect(heard.take() == ["mixed"])
    token.stop()
  }

  @Test("object-15: an embedded object goes with its owner") func object15() throws {
    let scene = try Scene()
    let owner = Owner()
    try scene.store.write {
      try scene.store.add(owner)
      owner.part = Part(value: 1)
    }
    let heard = HeardObject(\.name)
    let token = try #require(owner.part).observe { heard.hear($0) }
    try scene.store.write { try scene.store.delete(owner) }
    scene.store.refresh()
    #expect(heard.take() == ["deleted"])
    token.stop()
  }
}

/// Observers of single properties.
@Suite struct PropertyScenarios {
  private func managed() throws -> (Store, Thing) {
    let store = try Scene().store
    let item = Thing(value: 2)
    try store.write { try store.add(item) }
    return (store, item)
  }

  @Test("kvo-01, kvo-03: every observer of a property has its old and new value") func kvo01() throws {
    let (store, item) = try managed()
    var seen: [[Int?]] = []
    let tokens = (0..<3).map { _ in item.observe(\.value) { seen.append([$1.oldValue, $1.newValue]) } }
    try store.write { item.value = 10 }
    #expect(seen == [[2, 10], [2, 10], [2, 10]])
    for token in tokens { token.stop() }
  }

  /// Here an equal value is no change.
  @Test("kvo-02: a property that is assigned its own value") func kvo02() throws {
    let (store, item) = try managed()
    var calls = 0
    let token = item.observe(\.value) { _, _ in calls += 1 }
    try store.write { item.value = 2 }
    #expect(calls == 0)
    token.stop()
  }

  @Test("kvo-05: here each assignment is told, elsewhere one change from the first to the last") func kvo05() throws {
    let (store, item) = try managed()
    let other = try Store(store.configuration)
    let same = try #require(other.resolve(item.reference))
    var (here, there): ([[Int?]], [[Int?]]) = ([], [])
    let tokens = [
      item.observe(\.value) { here.append([$1.oldValue, $1.newValue]) },
      same.observe(\.value) { there.append([$1.oldValue, $1.newValue]) },
    ]
    try store.write { for value in 3...6 { item.value = value } }
    other.refresh()
    #expect(here == [[2, 3], [3, 4], [4, 5], [5, 6]] && there == [[2, 6]])
    for token in tokens { token.stop() }
  }

  @Test("kvo-07, kvo-08: a call at once, and one before") func kvo07() throws {
    let (store, item) = try managed()
    var seen: [String] = []
    let tokens = [
      item.observe(\.value, options: [.initial, .new]) { seen.append("initial \($1.newValue ?? -1)") },
      item.observe(\.value, options: [.prior, .old, .new]) { _, change in
        seen.append("\(change.isPrior ? "before" : "after") \(change.oldValue ?? -1) \(change.newValue ?? -1)")
      },
    ]
    #expect(seen == ["initial 2"])
    try store.write { item.value = 3 }
    #expect(seen == ["initial 2", "before 2 -1", "initial 3", "after 2 3"])
    for token in tokens { token.stop() }
  }

  @Test("kvo-11, kvo-12, kvo-14: a list tells replacements and removals by position") func kvo11() throws {
    let (store, item) = try managed()
    let other = try Store(store.configuration)
    try store.write { for value in 0..<2 { item.goals.append(Goal(value: value)) } }
    other.refresh()
    let same = try #require(other.resolve(item.reference))
    var (seen, there): ([String], [String]) = ([], [])
    let tokens = [
      item.observe(\.goals) { seen.append("\($1.kind) \($1.indexes)") },
      same.observe(\.goals) { there.append("\($1.kind) \($1.indexes)") },
    ]
    try store.write { item.goals.swapAt(0, 1) }
    try store.write { item.goals.move(from: 1, to: 0) }
    other.refresh()
    #expect(seen == ["replacement [0, 1]", "replacement [0, 1]"])
    // What was swapped there and back is nothing to whoever hears of both at once.
    #expect(there == [])
    seen = []
    try store.write {
      item.goals.append(Goal())
      item.goals.removeAll()
    }
    other.refresh()
    #expect(seen == ["insertion [2]", "removal [0, 1, 2]"] && there == ["removal [0, 1]"])
    for token in tokens { token.stop() }
  }

  @Test("kvo-15: a set or a map only says that it changed") func kvo15() throws {
    let store = try Scene().store
    let owner = Owner()
    try store.write { try store.add(owner) }
    var seen: [String] = []
    let tokens = [
      owner.observe(\.ints) { seen.append("set \($1.kind) \($1.indexes)") },
      owner.observe(\.map) { seen.append("map \($1.kind) \($1.indexes)") },
    ]
    try store.write {
      owner.ints.insert(1)
      owner.ints.remove(1)
      owner.ints.formUnion([2])
      owner.ints.subtract([2])
      owner.map["a"] = 1
      owner.map.removeAll()
    }
    #expect(seen == Array(repeating: "set setting []", count: 4) + Array(repeating: "map setting []", count: 2))
    for token in tokens { token.stop() }
  }

  @Test("kvo-18, kvo-20: a deleted object leaves links, and says that it is gone") func kvo18() throws {
    let store = try Scene().store
    let goal = Goal(value: 1)
    let item = Thing(link: goal)
    try store.write { try store.add(item) }
    var seen: [String] = []
    let tokens = [
      item.observe(\.link) { seen.append("link \($1.newValue.flatMap { $0 } == nil)") },
      goal.observe(\.isInvalidated) { seen.append("gone \($1.newValue ?? false)") },
      item.observe(\.isInvalidated) { seen.append("owner \($1.newValue ?? false)") },
    ]
    try store.write { try store.delete(goal) }
    #expect(Set(seen) == ["link true", "gone true"])
    seen = []
    try store.write { try store.delete(item) }
    #expect(seen == ["owner true"])
    for token in tokens { token.stop() }
  }

  @Test("kvo-21: an embedded object is gone when its place is taken", arguments: ["nil", "another", "cleared", "overwritten"])
  func kvo21(how: String) throws {
    let store = try Scene().store
    let owner = Owner()
    try store.write {
      try store.add(owner)
      owner.part = Part(value: 1)
      owner.parts.append(Part(value: 2))
    }
    let part = how == "nil" || how == "another" ? try #require(owner.part) : owner.parts[0]
    var seen: [Bool?] = []
    let token = part.observe(\.isInvalidated) { seen.append($1.newValue) }
    try store.write {
      switch how {
      case "nil": owner.part = nil
      case "another": owner.part = Part(value: 3)
      case "cleared": owner.parts.removeAll()
      default: owner.parts[0] = Part(value: 4)
      }
    }
    #expect(seen == [true])
    token.stop()
  }

  @Test("kvo-22: an object that was made in a cancelled write is gone") func kvo22() throws {
    let store = try Scene().store
    var seen: [Bool?] = []
    try store.beginWrite()
    let item = try store.adding(Thing())
    let token = item.observe(\.isInvalidated) { seen.append($1.newValue) }
    store.cancelWrite()
    #expect(seen == [true])
    token.stop()
  }

  @Test("kvo-25: objects that were deleted in a cancelled write come back into lists and links") func kvo25() throws {
    let store = try Scene().store
    let goal = Goal(value: 1)
    let item = Thing(link: goal)
    try store.write {
      try store.add(item)
      item.goals.append(contentsOf: [Goal(value: 0), goal])
    }
    try store.beginWrite()
    try store.delete(goal)
    var seen: [String] = []
    let tokens = [
      item.observe(\.goals) { seen.append("goals \($1.kind) \($1.indexes)") },
      item.observe(\.link) { seen.append("link \($1.newValue.flatMap { $0 }?.value ?? -1)") },
    ]
    store.cancelWrite()
    #expect(Set(seen) == ["goals insertion [1]", "link 1"])
    for token in tokens { token.stop() }
  }
}
