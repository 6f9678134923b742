import Testing
import Vivarium

@Suite struct ResultScenarios {
  // MARK: A range

  @Test("results-02: an object of a type that is linked to, without a link, is nothing") func results02() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.range) { try scene.scene.write { try $0.add(Goal(value: 5)) } } == [])
  }

  @Test("results-03: an object that links to a member is nothing") func results03() throws {
    let scene = try ThingScene()
    let heard = try scene.hear(scene.range) {
      let item = try scene.item(2)
      try scene.scene.write { try $0.add(Linking(link: item)) }
    }
    #expect(heard == [])
  }

  @Test("results-06: a member that changes and still matches is modified") func results06() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.range) { try scene.set([1: 3]) } == [Heard.update([], [], [0])])
  }

  @Test("results-07: a member that stops to match is deleted") func results07() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.range) { try scene.set([2: 0]) } == [Heard.update([1])])
  }

  @Test("results-08: an object that starts to match is inserted and not modified") func results08() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.range) { try scene.set([7: 3]) } == [Heard.update([], [4])])
  }

  @Test("results-09: a member that is deleted is deleted") func results09() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.range) { try scene.other.write { try scene.other.delete(try scene.item(3)) } } == [Heard.update([2])])
  }

  @Test("results-10: two commits of members are one call") func results10() throws {
    let scene = try ThingScene()
    let heard = try scene.hear(scene.range) {
      try scene.set([1: 3])
      try scene.set([4: 5])
    }
    #expect(heard == [Heard.update([], [], [0, 3])])
  }

  @Test("results-14: a new object that does not match is nothing") func results14() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.range) { try scene.scene.write { try $0.add(Thing(number: 10, value: 50)) } } == [])
  }

  @Test("results-20: the first call says what there is and no changes") func results20() throws {
    let scene = try ThingScene()
    let heard = Heard()
    let token = scene.range.observe { heard.hear($0) }
    scene.store.refresh()
    #expect(heard.take() == [.initial(4)])
    token.stop()
  }

  @Test("results-22: what was deleted can be read as it was") func results22() throws {
    let scene = try ThingScene()
    var seen: [Int] = []
    let token = try scene.range.observe(includingOldValues: true) { change in
      seen += change.details?.deletedObjects(Thing.self).map(\.number) ?? []
    }
    scene.store.refresh()
    try scene.other.write { try scene.other.delete(try scene.item(3)) }
    scene.store.refresh()
    #expect(seen == [3])
    token.stop()
  }

  // MARK: Sorted

  @Test("sorted-01: a change outside the range is nothing") func sorted01() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.descending) { try scene.set([6: 13]) } == [])
  }

  @Test("sorted-02: a member that keeps its place is modified") func sorted02() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.descending) { try scene.set([1: 3]) } == [Heard.update([], [], [3])])
  }

  @Test("sorted-04: an object that starts to match is inserted where it sorts") func sorted04() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.descending) { try scene.set([7: 3]) } == [Heard.update([], [3])])
  }

  @Test("sorted-05: a deleted row is deleted where it stood") func sorted05() throws {
    let scene = try ThingScene()
    let heard = try scene.hear(scene.descending) { try scene.other.write { try scene.other.delete(try scene.item(3)) } }
    #expect(heard == [Heard.update([1])])
  }

  @Test("sorted-06: a row that moves to the top is a deletion and an insertion") func sorted06() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.descending) { try scene.set([2: 9]) } == [Heard.update([2], [0])])
  }

  @Test("sorted-07: clearing the type deletes every row") func sorted07() throws {
    let scene = try ThingScene()
    let heard = try scene.hear(scene.descending) { try scene.scene.write { try $0.delete($0.objects(Thing.self)) } }
    #expect(heard == [Heard.update([0, 1, 2, 3])])
  }

  @Test("sorted-10: two commits of members are one call") func sorted10() throws {
    let scene = try ThingScene()
    let heard = try scene.hear(scene.descending) {
      try scene.set([1: 3])
      try scene.set([4: 0])
    }
    #expect(heard == [Heard.update([0], [], [3], new: [2])])
  }

  @Test("sorted-11: one goes outside, one comes inside") func sorted11() throws {
    let scene = try ThingScene()
    try scene.set([1: 0, 2: 5, 3: 0, 4: 0, 5: 15])
    scene.store.refresh()
    let heard = try scene.hear(scene.descending) {
      try scene.other.write {
        try scene.other.delete(try scene.item(5))
        try scene.other.add(Thing(number: 11, value: 3))
      }
    }
    #expect(heard == [Heard.update([], [1])])
  }

  // MARK: Distinct and windows

  @Test("distinct-limit-01: a change outside is nothing") func distinct01() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.range.distinct(by: \.value)) { try scene.set([6: 13]) } == [])
  }

  @Test("distinct-limit-02: a member with another value is modified") func distinct02() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.range.distinct(by: \.value)) { try scene.set([1: 3]) } == [Heard.update([], [], [0])])
  }

  @Test("distinct-limit-04: another object stands for a value from now on") func distinct04() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.range.distinct(by: \.value)) { try scene.set([0: 2]) } == [Heard.update([0], [0])])
  }

  @Test("distinct-limit-05: a member that becomes a duplicate is deleted") func distinct05() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.range.distinct(by: \.value)) { try scene.set([2: 2]) } == [Heard.update([1])])
  }

  @Test("distinct-limit-06: an earlier object with a new value is inserted") func distinct06() throws {
    let scene = try ThingScene()
    #expect(try scene.hear(scene.range.distinct(by: \.value)) { try scene.set([0: 1]) } == [Heard.update([], [0])])
  }

  @Test("distinct-limit-07: what is pushed out of a window is deleted") func distinct07() throws {
    let scene = try Scene()
    try scene.write { store in
      for value in [2, 3, 0, 1, 2, 3, 0, 1] { try store.add(Thing(value: value)) }
    }
    scene.store.refresh()
    let heard = Heard()
    let top = scene.store.objects(Thing.self).distinct(by: \.value).sorted(by: \.value, ascending: false).limited(to: 2)
    let token = top.observe { heard.hear($0) }
    scene.store.refresh()
    #expect(heard.take() == [.initial(2)] && top.map(\.value) == [3, 2])
    try scene.write { try $0.add(Thing(value: 5)) }
    scene.store.refresh()
    #expect(heard.take() == [Heard.update([1], [0])] && top.map(\.value) == [5, 3])
    token.stop()
  }
}
