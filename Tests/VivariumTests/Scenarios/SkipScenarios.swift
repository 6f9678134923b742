import Dispatch
import Testing
import Vivarium

@Suite struct SkipScenarios {
  /// Two observers of all items, told of the first ten.
  private func observed() throws -> (ThingScene, [Heard], [NotificationToken]) {
    let scene = try ThingScene()
    let heard = [Heard(), Heard()]
    let tokens = heard.map { heard in scene.all.observe { heard.hear($0) } }
    scene.store.refresh()
    for heard in heard { _ = heard.take() }
    return (scene, heard, tokens)
  }

  @Test("skip-02: only the other token of the same results is told") func skip02() throws {
    let (scene, heard, tokens) = try observed()
    try scene.store.write(withoutNotifying: [tokens[0]]) { try scene.store.add(Thing(number: 10)) }
    scene.store.refresh()
    #expect(heard[0].take() == [] && heard[1].take() == [Heard.update([], [10])])
    for token in tokens { token.stop() }
  }

  @Test("skip-03: other results are told") func skip03() throws {
    let (scene, heard, tokens) = try observed()
    let sorted = Heard()
    let token = scene.all.sorted(by: \.number).observe { sorted.hear($0) }
    scene.store.refresh()
    _ = sorted.take()
    try scene.store.write(withoutNotifying: [tokens[0], tokens[1]]) { try scene.store.add(Thing(number: 10)) }
    scene.store.refresh()
    #expect(heard[0].take() == [] && sorted.take() == [Heard.update([], [10])])
    for token in tokens + [token] { token.stop() }
  }

  @Test("skip-04: what another commits next is told where it stands now") func skip04() throws {
    let (scene, heard, tokens) = try observed()
    try scene.store.write(withoutNotifying: [tokens[0]]) { try scene.store.add(Thing(number: 10)) }
    try scene.scene.write { try $0.add(Thing(number: 11)) }
    scene.store.refresh()
    #expect(heard[0].take() == [Heard.update([], [11])] && heard[1].take() == [Heard.update([], [10, 11])])
    for token in tokens { token.stop() }
  }

  @Test("skip-06: without a write there is nothing to skip") func skip06() throws {
    let (scene, _, tokens) = try observed()
    #expect(throws: StoreError.self) { try scene.store.commitWrite(withoutNotifying: tokens) }
    for token in tokens { token.stop() }
  }

  @Test("skip-07: a commit that skips, from a thread that is not the write's, is refused") func skip07() throws {
    let queue = DispatchQueue(label: "skipping")
    let configuration = makeConfiguration()
    let store = try queue.sync { try Store(configuration, queue: queue) }
    let heard = Heard()
    let token = try queue.sync {
      let token = store.objects(Dog.self).observe { heard.hear($0) }
      store.refresh()
      try store.beginWrite()
      try store.add(Dog(name: "Rex"))
      return token
    }
    #expect { try store.commitWrite(withoutNotifying: [token]) } throws: { StoreError.Code.wrongContext ~= $0 }
    try queue.sync {
      // It is open still, and may be committed where it was begun.
      #expect(store.isInWriteTransaction)
      try store.commitWrite(withoutNotifying: [token])
      store.refresh()
      #expect(heard.take() == [.initial(0)])
      token.stop()
    }
  }

  @Test("skip-08: a skip is spent on a write that changed nothing") func skip08() throws {
    let (scene, heard, tokens) = try observed()
    try scene.store.write(withoutNotifying: tokens) { _ = 0 }
    try scene.store.write { try scene.store.add(Thing(number: 10)) }
    scene.store.refresh()
    #expect(heard[0].take() == [Heard.update([], [10])])
    for token in tokens { token.stop() }
  }

  @Test("skip-10: a skipped token may be dropped at once") func skip10() throws {
    let (scene, _, tokens) = try observed()
    try scene.store.write(withoutNotifying: tokens) { try scene.store.add(Thing(number: 10)) }
    for token in tokens { token.stop() }
    let heard = Heard()
    let token = scene.range.observe { heard.hear($0) }
    scene.store.refresh()
    #expect(heard.take() == [.initial(4)])
    token.stop()
  }

  @Test("skip-11: many skipped writes in a row stay skipped") func skip11() throws {
    let (scene, heard, tokens) = try observed()
    for number in 10..<40 {
      try scene.store.write(withoutNotifying: [tokens[0]]) { try scene.store.add(Thing(number: number)) }
      if number % 3 == 0 { scene.store.refresh() }
    }
    scene.store.refresh()
    #expect(heard[0].take() == [])
    for token in tokens { token.stop() }
  }

  @Test("skip-16: an object's token") func skip16() throws {
    let scene = try ThingScene()
    var calls = 0
    let item = try #require(scene.all.first)
    let token = item.observe { _ in calls += 1 }
    scene.store.refresh()
    try scene.store.write(withoutNotifying: [token]) { item.value = 99 }
    scene.store.refresh()
    #expect(calls == 0)
    try scene.store.write { item.value = 100 }
    scene.store.refresh()
    #expect(calls == 1)
    token.stop()
  }

  @Test("skip-17: of two observers of a list one is skipped") func skip17() throws {
    let scene = try ThingScene()
    let item = try #require(scene.all.first)
    let again = try #require(scene.store.resolve(item.reference))
    let heard = [Heard(), Heard()]
    let tokens = [item.goals.observe { heard[0].hear($0) }, again.goals.observe { heard[1].hear($0) }]
    scene.store.refresh()
    for heard in heard { _ = heard.take() }
    try scene.store.write(withoutNotifying: [tokens[0]]) { item.goals.append(Goal()) }
    scene.store.refresh()
    #expect(heard[0].take() == [] && heard[1].take() == [Heard.update([], [0])])
    for token in tokens { token.stop() }
  }
}
