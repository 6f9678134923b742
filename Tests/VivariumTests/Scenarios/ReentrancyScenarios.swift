import Foundation
import Testing
import Vivarium
import VivariumTestSupport

/// Blocks that write, and a schema that grows, while others are told.
@Suite struct ReentrancyScenarios {
  @Test("reentrancy-04: a write that a block begins tells a later block everything at once") func reentrancy04() throws {
    let scene = try ThingScene()
    var (first, second) = (0, [Heard.Call]())
    var isNested = false
    let heard = Heard()
    let tokens = [
      scene.range.observe { change in
        first += 1
        guard case .update = change, !isNested else { return }
        isNested = true
        try? scene.set([2: 5])
        try? scene.store.beginWrite()
        scene.store.cancelWrite()
      },
      scene.all.observe { heard.hear($0) },
    ]
    scene.store.refresh()
    try scene.set([1: 3])
    scene.store.refresh()
    second = heard.take()
    #expect(first == 3 && second == [.initial(10), Heard.update([], [], [1, 2])])
    for token in tokens { token.stop() }
  }

  @Test("reentrancy-05: a block that writes again and again tells the one after it once") func reentrancy05() throws {
    let scene = try ThingScene()
    var calls = [0, 0]
    let heard = Heard()
    func isUpdate(_ change: CollectionChange<Results<Thing>>) -> Bool { if case .update = change { true } else { false } }
    let tokens = [
      scene.range.observe { if isUpdate($0) { calls[0] += 1 } },
      scene.range.observe { change in
        guard isUpdate(change) else { return }
        calls[1] += 1
        #expect(calls[0] == calls[1], "each sees its own step")
        if calls[1] == 10 { return }
        try? scene.scene.write { try $0.add(Thing(number: 10 + calls[1], value: 5)) }
        try? scene.store.beginWrite()
        scene.store.cancelWrite()
      },
      scene.range.observe { heard.hear($0) },
    ]
    scene.store.refresh()
    _ = heard.take()
    try scene.scene.write { try $0.add(Thing(number: 10, value: 5)) }
    try scene.store.beginWrite()
    scene.store.cancelWrite()
    #expect(calls == [10, 10] && heard.take() == [Heard.update([], Array(4...13))])
    for token in tokens { token.stop() }
  }

  @Test("skip-14: a block writes past a later token, which hears of what came before") func skip14() throws {
    let scene = try ThingScene()
    let (first, second) = (Heard(), Heard())
    var later: NotificationToken?
    var isWritten = false
    let token = scene.all.observe { change in
      first.hear(change)
      guard case .update = change, !isWritten else { return }
      isWritten = true
      try? scene.store.write(withoutNotifying: later.map { [$0] } ?? []) { try scene.store.add(Thing(number: 11)) }
    }
    later = scene.all.observe { second.hear($0) }
    scene.store.refresh()
    try scene.scene.write { try $0.add(Thing(number: 10)) }
    scene.store.refresh()
    scene.store.refresh()
    #expect(first.take() == [.initial(10), Heard.update([], [10]), Heard.update([], [11])])
    #expect(second.take() == [.initial(10), Heard.update([], [10])])
    token.stop()
    later?.stop()
  }

  @Test("skip-15: a block writes past an earlier token") func skip15() throws {
    let scene = try ThingScene()
    let (first, second) = (Heard(), Heard())
    var isWritten = false
    let token = scene.all.observe { first.hear($0) }
    let later = scene.all.observe { change in
      second.hear(change)
      guard case .update = change, !isWritten else { return }
      isWritten = true
      try? scene.store.write(withoutNotifying: [token]) { try scene.store.add(Thing(number: 11)) }
    }
    scene.store.refresh()
    try scene.scene.write { try $0.add(Thing(number: 10)) }
    scene.store.refresh()
    scene.store.refresh()
    #expect(first.take() == [.initial(10), Heard.update([], [10])])
    #expect(second.take() == [.initial(10), Heard.update([], [10]), Heard.update([], [11])])
    token.stop()
    later.stop()
  }

  @Test("results-16: positions stay right when the schema grows under an observer") func results16() throws {
    let name = UUID().uuidString
    var configuration = StoreConfiguration.reference(name, models: [Thing.self, Goal.self, Second.self, Far.self])
    configuration.manualDelivery = true
    let store = try Store(configuration)
    try store.write { for i in 0..<6 { try store.add(Thing(number: i, value: i)) } }
    let heard = Heard()
    let token = store.objects(Thing.self).where { $0.value > 1 }.observe { heard.hear($0) }
    store.refresh()
    let grown = try Store(
      StoreConfiguration.reference(name, models: [Aardvark.self, Later.Thing.self, Goal.self, Second.self, Far.self]))
    #expect(!grown.schemaChanges.isEmpty)
    try grown.write {
      try grown.add(Aardvark())
      let things = grown.objects(Later.Thing.self)
      things[3].value = 9
      things[4].value = 0
      things[5].added = 8
    }
    store.refresh()
    #expect(heard.take().last == Heard.update([2], [], [1]))
    try grown.write { grown.objects(Later.Thing.self)[2].value = 3 }
    store.refresh()
    #expect(heard.take() == [Heard.update([], [], [0])])
    token.stop()
  }
}

@Model final class Aardvark { var name = "" }

/// What the program's next release has.
enum Later {
  @Model final class Thing {
    var number = 0
    var value = 0
    var link: Goal?
    var second: Second?
    var goals: LiveList<Goal>
    var goalSet: LiveSet<Goal>
    var goalMap: LiveMap<Goal>
    var added = 7
  }
}
