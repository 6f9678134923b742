import StoreValues
import Testing
import Vivarium

/// Goals 0 to 9 with these values; two owners list all of them in order.
private struct ListScene {
  let scene: Scene
  let owner: Owner
  let mine: Owner
  let theirs: Owner

  init() throws {
    scene = try Scene()
    var owners: [Owner] = []
    try scene.write { store in
      let goals = (0..<10).map { Goal(value: $0) }
      for name in ["A", "B"] {
        let owner = try store.adding(Owner(name: name))
        owner.items.append(contentsOf: goals)
        owners.append(owner)
      }
    }
    (mine, theirs) = (owners[0], owners[1])
    scene.store.refresh()
    owner = try #require(scene.store.resolve(mine.reference))
  }

  /// What an observer of the list hears of some commits.
  func hear(only names: [String]? = nil, _ commits: () throws -> Void) throws -> [Heard.Call] {
    let heard = Heard()
    let token =
      try names.map { names in try owner.items.observe(observingProperties: names) { heard.hear($0) } }
      ?? owner.items.observe { heard.hear($0) }
    scene.store.refresh()
    _ = heard.take()
    try commits()
    scene.store.refresh()
    token.stop()
    return heard.take()
  }

  func hear(_ results: Results<Goal>, _ commits: () throws -> Void) throws -> [Heard.Call] {
    let heard = Heard()
    let token = results.observe { heard.hear($0) }
    scene.store.refresh()
    _ = heard.take()
    try commits()
    scene.store.refresh()
    token.stop()
    return heard.take()
  }

  func edit(_ body: (Owner) throws -> Void) throws { try scene.other.write { try body(mine) } }
}

@Suite struct ListScenarios {
  @Test("list-01: an element that is removed is deleted") func list01() throws {
    let scene = try ListScene()
    #expect(try scene.hear { try scene.edit { $0.items.remove(at: 5) } } == [Heard.update([5])])
  }

  @Test("list-02: another owner's list is nothing") func list02() throws {
    let scene = try ListScene()
    #expect(try scene.hear { try scene.scene.write { _ in scene.theirs.items.remove(at: 5) } } == [])
  }

  @Test("list-03: clearing deletes all") func list03() throws {
    let scene = try ListScene()
    #expect(try scene.hear { try scene.edit { $0.items.removeAll() } } == [Heard.update(Array(0..<10))])
  }

  @Test("list-08: an owner that is gone before the first call deletes all in the second") func list08() throws {
    let scene = try ListScene()
    let heard = Heard()
    let token = scene.owner.items.observe { heard.hear($0) }
    try scene.scene.write { try $0.delete(scene.mine) }
    scene.scene.store.refresh()
    scene.scene.store.refresh()
    #expect(heard.take().first == .initial(0))
    token.stop()
  }

  @Test("list-10: an object that is deleted goes out of the list") func list10() throws {
    let scene = try ListScene()
    #expect(try scene.hear { try scene.scene.write { try $0.delete(scene.mine.items[5]) } } == [Heard.update([5])])
  }

  @Test("list-15: clearing the type deletes all") func list15() throws {
    let scene = try ListScene()
    let heard = try scene.hear { try scene.scene.write { try $0.delete($0.objects(Goal.self)) } }
    #expect(heard == [Heard.update(Array(0..<10))])
  }

  @Test("list-16: an object outside the list is nothing") func list16() throws {
    let scene = try ListScene()
    let outside = Goal()
    try scene.scene.write { try $0.add(outside) }
    #expect(try scene.hear { try scene.scene.write { try $0.delete(outside) } } == [])
  }

  @Test("list-18: copies of an element are inserted where they sort") func list18() throws {
    let scene = try ListScene()
    let sorted = try #require(scene.owner.items.sorted(by: \.value, ascending: false))
    let heard = try scene.hear(sorted) {
      try scene.edit { owner in for _ in 0..<3 { owner.items.append(owner.items[5]) } }
    }
    #expect(heard == [Heard.update([], [5, 6, 7])])
  }

  @Test("list-20: places in the list are nothing to one that is sorted") func list20() throws {
    let scene = try ListScene()
    let sorted = try #require(scene.owner.items.sorted(by: \.value, ascending: false))
    #expect(try scene.hear(sorted) { try scene.edit { $0.items.swapAt(3, 7) } } == [])
    #expect(try scene.hear(sorted) { try scene.edit { $0.items.move(from: 2, to: 6) } } == [])
  }

  @Test("list-22: of a filtered list a swap is two deletions and two insertions, or moves") func list22() throws {
    let scene = try ListScene()
    let filtered = try #require(scene.owner.items.where { $0.value < 100 })
    let heard = try scene.hear(filtered) { try scene.edit { $0.items.swapAt(5, 8) } }
    guard case .update(let deletions, let insertions, let modifications, _)? = heard.first else {
      Issue.record("\(heard)")
      return
    }
    #expect(heard.count == 1 && deletions == insertions && deletions == [5, 8] && modifications == [])
  }

  @Test("list-25: without any path an element's properties are nothing") func list25() throws {
    let scene = try ListScene()
    #expect(try scene.hear(only: []) { try scene.edit { $0.items[5].value = 99 } } == [])
  }

  @Test("list-26: without any path the list's edits are told") func list26() throws {
    let scene = try ListScene()
    #expect(try scene.hear(only: []) { try scene.edit { $0.items.remove(at: 5) } } == [Heard.update([5])])
    #expect(try scene.hear(only: []) { try scene.edit { $0.items.append(Goal()) } } == [Heard.update([], [9])])
    #expect(try scene.hear(only: []) { try scene.edit { $0.items.move(from: 5, to: 8) } } == [Heard.update([5], [8])])
  }

  @Test("list-27: a filter over the list makes its owner modified") func list27() throws {
    let scene = try ListScene()
    var names: [String] = []
    let token = try scene.owner.observe(observingProperties: ["items.value"]) { change in
      if case .change(let found) = change { names += found.map(\.name) }
    }
    scene.scene.store.refresh()
    try scene.edit { $0.items[5].value = 99 }
    scene.scene.store.refresh()
    #expect(names == ["items"])
    token.stop()
  }

  @Test("list-28: what is committed before the first call is in it") func list28() throws {
    let scene = try ListScene()
    let heard = Heard()
    let token = scene.owner.items.observe { heard.hear($0) }
    try scene.edit { $0.items.remove(at: 5) }
    scene.scene.store.refresh()
    #expect(heard.take() == [.initial(9)])
    token.stop()
  }

  @Test("list-31: a list is followed by its owner, wherever that stands") func list31() throws {
    let scene = try Scene()
    let outer = Thing()
    var inner: Owner?
    try scene.write { store in
      try store.add(outer)
      let owner = try store.adding(Owner(name: "inner"))
      owner.ints.insert(1)
      owner.items.append(Goal())
      inner = owner
    }
    scene.store.refresh()
    let mine = try #require(inner.flatMap { scene.store.resolve($0.reference) })
    let heard = Heard()
    let token = mine.items.observe { heard.hear($0) }
    scene.store.refresh()
    try scene.write { store in
      try store.add(Owner(name: "before"))
      inner?.items.append(Goal())
    }
    scene.store.refresh()
    #expect(heard.take() == [.initial(1), Heard.update([], [1])])
    token.stop()
  }

  @Test("list-32: an owner that is deleted deletes every element, last") func list32() throws {
    let scene = try ListScene()
    try scene.edit { $0.items.remove(at: 2) }
    scene.scene.store.refresh()
    let heard = Heard()
    let token = scene.owner.items.observe { heard.hear($0) }
    scene.scene.store.refresh()
    try scene.scene.write { try $0.delete(scene.mine) }
    scene.scene.store.refresh()
    #expect(heard.take() == [.initial(9), Heard.update(Array(0..<9))])
    try scene.scene.write { try $0.add(Owner()) }
    scene.scene.store.refresh()
    #expect(heard.take() == [])
    token.stop()
  }

  @Test("list-33: a list of embedded objects is as one of links") func list33() throws {
    let scene = try ListScene()
    try scene.edit { owner in for value in 0..<4 { owner.parts.append(Part(value: value)) } }
    scene.scene.store.refresh()
    let heard = Heard()
    let token = scene.owner.parts.observe { heard.hear($0) }
    scene.scene.store.refresh()
    try scene.edit { $0.parts[1].value = 9 }
    scene.scene.store.refresh()
    try scene.edit { $0.parts.remove(at: 0) }
    scene.scene.store.refresh()
    try scene.edit { $0.parts.move(from: 0, to: 2) }
    scene.scene.store.refresh()
    try scene.edit { $0.parts.removeAll() }
    scene.scene.store.refresh()
    #expect(
      heard.take() == [
        .initial(4), Heard.update([], [], [1]), Heard.update([0]), Heard.update([0], [2]), Heard.update([0, 1, 2]),
      ])
    token.stop()
  }
}

@Suite struct SetAndMapScenarios {
  private func observed(_ scene: Scene) throws -> (mine: Owner, owner: Owner) {
    let mine = Owner(name: "A")
    try scene.write { try $0.add(mine) }
    scene.store.refresh()
    return (mine, try #require(scene.store.resolve(mine.reference)))
  }

  @Test("set-01: of three that are inserted, one twice, three are told") func set01() throws {
    let scene = try Scene()
    let (mine, owner) = try observed(scene)
    let heard = Heard()
    let token = owner.members.observe { heard.hear($0) }
    scene.store.refresh()
    let leaves = (0..<3).map { Leaf(id: $0) }
    try scene.write { _ in for leaf in leaves + [leaves[0]] { mine.members.insert(leaf) } }
    scene.store.refresh()
    #expect(heard.take() == [.initial(0), Heard.update([], [0, 1, 2])])
    token.stop()
  }

  @Test("set-05: clearing and inserting another") func set05() throws {
    let scene = try Scene()
    let (mine, owner) = try observed(scene)
    try scene.write { _ in for id in 0..<3 { mine.members.insert(Leaf(id: id)) } }
    scene.store.refresh()
    let heard = Heard()
    let token = owner.members.observe { heard.hear($0) }
    scene.store.refresh()
    try scene.write { _ in
      mine.members.removeAll()
      mine.members.insert(Leaf(id: 9))
    }
    scene.store.refresh()
    #expect(heard.take() == [.initial(3), Heard.update([0, 1, 2], [0])])
    token.stop()
  }

  @Test("set-06: removing one by one") func set06() throws {
    let scene = try Scene()
    let (mine, owner) = try observed(scene)
    let leaves = (0..<3).map { Leaf(id: $0) }
    try scene.write { _ in for leaf in leaves { mine.members.insert(leaf) } }
    scene.store.refresh()
    let heard = Heard()
    let token = owner.members.observe { heard.hear($0) }
    scene.store.refresh()
    try scene.write { _ in for leaf in leaves { mine.members.remove(leaf) } }
    scene.store.refresh()
    #expect(heard.take() == [.initial(3), Heard.update([0, 1, 2])])
    token.stop()
  }

  @Test("set-09: a member's own changes count while it is one") func set09() throws {
    let scene = try Scene()
    let (mine, owner) = try observed(scene)
    let leaf = Leaf(id: 1)
    try scene.write { _ in mine.members.insert(leaf) }
    scene.store.refresh()
    let heard = Heard()
    let token = owner.members.observe { heard.hear($0) }
    scene.store.refresh()
    try scene.write { _ in leaf.value = 2 }
    scene.store.refresh()
    try scene.write { _ in mine.members.remove(leaf) }
    scene.store.refresh()
    try scene.write { _ in leaf.value = 3 }
    scene.store.refresh()
    #expect(heard.take() == [.initial(1), Heard.update([], [], [0]), Heard.update([0])])
    token.stop()
  }

  /// What an observer of the map of leaves hears, as text.
  private func hear(
    _ scene: Scene, _ map: LiveMap<Leaf>, only names: [String]? = nil, _ commits: () throws -> Void
  ) throws -> [String] {
    var heard: [String] = []
    let hear = { (change: MapChange<Leaf>) in
      if case .update(_, let deletions, let insertions, let modifications) = change {
        heard.append("-\(deletions.joined()) +\(insertions.joined()) ~\(modifications.joined())")
      }
    }
    let token = try names.map { try map.observe(observingProperties: $0, hear) } ?? map.observe(hear)
    scene.store.refresh()
    try commits()
    scene.store.refresh()
    token.stop()
    return heard
  }

  @Test("dictionary-01, dictionary-05: keys that come and go") func dictionary01() throws {
    let scene = try Scene()
    let (mine, owner) = try observed(scene)
    #expect(try hear(scene, owner.leaves) { try scene.write { _ in mine.leaves["a"] = Leaf(id: 1) } } == ["- +a ~"])
    let heard = try hear(scene, owner.leaves) {
      try scene.write { _ in
        mine.leaves["b"] = Leaf(id: 2)
        mine.leaves["a"] = nil
      }
    }
    #expect(heard == ["-a +b ~"])
  }

  /// Here an entry goes with its object, and so it is deleted.
  @Test("dictionary-11: an object that is deleted") func dictionary11() throws {
    let scene = try Scene()
    let (mine, owner) = try observed(scene)
    let leaf = Leaf(id: 1)
    try scene.write { _ in mine.leaves["a"] = leaf }
    scene.store.refresh()
    #expect(try hear(scene, owner.leaves) { try scene.write { try $0.delete(leaf) } } == ["-a + ~"])
  }

  @Test("dictionary-12, dictionary-13: an entry, and an object in it, are modifications of the owner") func dictionary12() throws {
    let scene = try Scene()
    let (mine, _) = try observed(scene)
    let heard = Heard()
    let token = scene.store.objects(Owner.self).observe { heard.hear($0) }
    scene.store.refresh()
    let leaf = Leaf(id: 1)
    try scene.write { _ in mine.leaves["a"] = leaf }
    scene.store.refresh()
    try scene.write { _ in leaf.value = 8 }
    scene.store.refresh()
    #expect(heard.take() == [.initial(1), Heard.update([], [], [0]), Heard.update([], [], [0])])
    token.stop()
  }

  @Test("dictionary-14, dictionary-15: without any path entries are told, and objects in them are not") func dictionary14() throws {
    let scene = try Scene()
    let (mine, owner) = try observed(scene)
    let leaf = Leaf(id: 1)
    #expect(try hear(scene, owner.leaves, only: []) { try scene.write { _ in mine.leaves["a"] = leaf } } == ["- +a ~"])
    #expect(try hear(scene, owner.leaves, only: []) { try scene.write { _ in leaf.value = 7 } } == [])
    let replaced = try hear(scene, owner.leaves, only: []) { try scene.write { _ in mine.leaves["a"] = Leaf(id: 2) } }
    #expect(replaced == ["- + ~a"])
    #expect(try hear(scene, owner.leaves, only: []) { try scene.write { _ in mine.leaves["a"] = nil } } == ["-a + ~"])
  }
}
