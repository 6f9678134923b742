import Testing
import Vivarium

@Suite struct KeyPathScenarios {
  @Test("keypath-02: of another property than the filter's nothing is told") func keypath02() throws {
    let scene = try ThingScene()
    let heard = try scene.hear(scene.all, only: ["value"]) {
      try scene.scene.write { try scene.item(1).link = try $0.adding(Goal()) }
    }
    #expect(heard == [])
  }

  @Test("keypath-03: a linked object's property is none of the filter's") func keypath03() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.all, only: ["value"]) { try scene.other.write { try scene.item(1).link?.value = 9 } } == [])
  }

  @Test("keypath-05: every hop of a path counts") func keypath05() throws {
    let scene = try ThingScene()
    let heard = try scene.hear(scene.all, only: ["link.value"]) {
      try scene.scene.write { try scene.item(1).link = try $0.adding(Goal()) }
    }
    #expect(heard == [Heard.update([], [], [1])])
  }

  @Test("keypath-07: another property at the end of the path does not") func keypath07() throws {
    let scene = try ThingScene()
    let heard = try scene.hear(scene.all, only: ["link.value"]) {
      try scene.other.write { try scene.item(1).link?.value2 = 9 }
    }
    #expect(heard == [])
  }

  @Test("keypath-08: an unrelated type does not") func keypath08() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.all, only: ["link.value"]) { try scene.scene.write { try $0.add(Unrelated()) } } == [])
  }

  @Test("keypath-09: an element that is added to a collection on the path is a modification", arguments: ["goals", "goalSet", "goalMap"])
  func keypath09(property: String) throws {
    let scene = try ThingScene()
    let heard = try scene.hear(scene.all, only: ["\(property).value"]) { try scene.add(Goal(), to: 1, property) }
    #expect(heard == [Heard.update([], [], [1])])
  }

  @Test("keypath-10, keypath-11: of the elements the property counts, and no other", arguments: ["goals", "goalSet", "goalMap"])
  func keypath10(property: String) throws {
    let scene = try ThingScene()
    let goal = Goal()
    try scene.add(goal, to: 1, property)
    scene.store.refresh()
    let heard = try scene.hear(scene.all, only: ["\(property).value"]) { try scene.other.write { goal.value = 7 } }
    #expect(heard == [Heard.update([], [], [1])])
    let others = try scene.hear(scene.all, only: ["\(property).value"]) {
      try scene.other.write {
        goal.value2 = 7
        try scene.item(1).value = 99
      }
    }
    #expect(others == [])
  }

  @Test("keypath-13: an unrelated type calls nobody, filtered or not") func keypath13() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.all) { try scene.scene.write { try $0.add(Unrelated()) } } == [])
    #expect(try scene.hear(scene.all, only: ["value"]) { try scene.scene.write { try $0.add(Unrelated()) } } == [])
  }

  @Test("keypath-14: a link in the middle of a path counts") func keypath14() throws {
    let scene = try ThingScene()
    let heard = try scene.hear(scene.all, only: ["link.next.value"]) {
      try scene.scene.write { try scene.item(1).link?.next = try $0.adding(Far(value: 1)) }
    }
    #expect(heard == [Heard.update([], [], [1])])
  }

  @Test("keypath-17: without any path deletions are told") func keypath17() throws {
    let scene = try ThingScene()
    let heard = try scene.hear(scene.all, only: []) { try scene.other.write { try scene.other.delete(try scene.item(0)) } }
    #expect(heard == [Heard.update([0])])
  }

  @Test("keypath-19, keypath-20: over an inverse new links count, and other properties do not") func keypath20() throws {
    let scene = try ThingScene()
    let heard = Heard()
    let token = try scene.store.objects(Goal.self).observe(observingProperties: ["items.value"]) { heard.hear($0) }
    scene.store.refresh()
    _ = heard.take()
    try scene.other.write { try scene.item(0).number = 100 }
    scene.store.refresh()
    #expect(heard.take() == [])
    let goal = try #require(scene.other.objects(Goal.self).first)
    try scene.other.write { try scene.other.add(Thing(number: 20, link: goal)) }
    scene.store.refresh()
    #expect(heard.take() == [Heard.update([], [], [0])])
    token.stop()
  }

  @Test("keypath-22: inverses are not followed unless they are named") func keypath22() throws {
    let scene = try ThingScene()
    let heard = Heard()
    let token = scene.store.objects(Goal.self).observe { heard.hear($0) }
    scene.store.refresh()
    _ = heard.take()
    try scene.set([0: 77])
    scene.store.refresh()
    #expect(heard.take() == [])
    token.stop()
  }

  /// A chain of 20, of which the last changes; which rows are told.
  private func changed(_ names: [String]?, cutAt cut: Int? = nil) throws -> [Int] {
    let scene = try Scene()
    var chain: [Chain] = []
    try scene.write { store in
      for i in (0..<20).reversed() { chain.insert(try store.adding(Chain(value: i, link: chain.first)), at: 0) }
      if let cut { try store.delete(chain[cut]) }
    }
    scene.store.refresh()
    let heard = Heard()
    let links = scene.store.objects(Chain.self).sorted(by: \.value)
    let values = links.map(\.value)
    let token =
      try names.map { names in try links.observe(observingProperties: names) { heard.hear($0) } } ?? links.observe { heard.hear($0) }
    scene.store.refresh()
    _ = heard.take()
    try scene.write { _ in chain[19].value = 100 }
    scene.store.refresh()
    token.stop()
    guard case .update(_, _, let positions, _)? = heard.take().first else { return [] }
    return positions.map { values[$0] }
  }

  @Test("keypath-23: without a filter links are followed over three hops") func keypath23() throws {
    #expect(try changed(nil) == [16, 17, 18, 19])
  }

  @Test("keypath-24: a path of four hops is exactly one object's") func keypath24() throws {
    #expect(try changed(["link.link.link.link.value"]) == [15])
  }

  @Test("keypath-25: a chain that is cut ends there") func keypath25() throws {
    #expect(try changed(nil, cutAt: 17) == [18, 19])
    #expect(try changed(["link.link.link.link.value"], cutAt: 17) == [])
  }

  @Test("keypath-27: what lies deeper than the path is none of its business") func keypath27() throws {
    #expect(try changed(["link.link.link.link.link.value"]) == [14])
  }

  @Test("keypath-28: each star is one hop") func keypath28() throws {
    #expect(try changed(["*.*"]) == [18])
  }

  @Test("keypath-30: a path that names no property is an error at once", arguments: ["link.colour", "*.breed", "colour"])
  func keypath30(path: String) throws {
    let scene = try ThingScene()
    #expect(throws: StoreError.self) { _ = try scene.all.observe(observingProperties: [path]) { _ in } }
  }
}

extension ThingScene {
  fileprivate func add(_ goal: Goal, to number: Int, _ property: String) throws {
    try other.write {
      let item = try item(number)
      switch property {
      case "goals": item.goals.append(goal)
      case "goalSet": item.goalSet.insert(goal)
      default: item.goalMap["key"] = goal
      }
    }
  }
}
