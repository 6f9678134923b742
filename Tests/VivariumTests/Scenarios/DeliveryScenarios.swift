import Dispatch
import Testing
import Vivarium
import VivariumTestSupport

@Suite struct DeliveryScenarios {
  private func begin(_ scene: ThingScene) -> (Heard, NotificationToken) {
    let heard = Heard()
    return (heard, scene.range.observe { heard.hear($0) })
  }

  @Test("delivery-02: the first call comes in a turn of the context, once") func delivery02() throws {
    let scene = try ThingScene()
    let queue = DispatchQueue(label: "turns")
    let arrived = Signal()
    let configuration = scene.store.configuration
    let token = try queue.sync {
      let store = try Store(configuration, queue: queue)
      return store.objects(Thing.self).observe { _ in arrived.fire() }
    }
    #expect(arrived.wait())
    queue.sync {}
    #expect(arrived.count == 1)
    token.stop()
  }

  @Test("delivery-03: the first call comes with a refresh") func delivery03() throws {
    let scene = try ThingScene()
    let (heard, token) = begin(scene)
    #expect(heard.take() == [])
    scene.store.refresh()
    #expect(heard.take() == [.initial(4)])
    token.stop()
  }

  @Test("delivery-04: the first call comes before a write begins") func delivery04() throws {
    let scene = try ThingScene()
    let (heard, token) = begin(scene)
    try scene.store.beginWrite()
    #expect(heard.take() == [.initial(4)])
    scene.store.cancelWrite()
    token.stop()
  }

  @Test("delivery-05, delivery-13: without autorefresh the first call comes, and changes with a refresh") func delivery13() throws {
    let scene = try ThingScene()
    var configuration = scene.store.configuration
    configuration.autorefresh = false
    let queue = DispatchQueue(label: "still")
    let arrived = Signal()
    let calls = Calls()
    let (store, token) = try queue.sync {
      let store = try Store(configuration, queue: queue)
      let token = store.objects(Thing.self).observe { change in
        calls.add(change.collection?.count ?? -1)
        arrived.fire()
      }
      let other = store.observe { notification, _ in if notification == .refreshRequired { arrived.fire() } }
      return (Confined(store), [token, other])
    }
    #expect(arrived.wait())
    #expect(calls.take() == [10])
    try scene.scene.write { try $0.add(Thing()) }
    #expect(arrived.wait())
    queue.sync { #expect(calls.take() == [] && store.store?.objects(Thing.self).count == 10) }
    _ = queue.sync { store.store?.refresh() }
    #expect(calls.take() == [11])
    for token in token { token.stop() }
    queue.sync { store.store = nil }
  }

  @Test("delivery-09: a store that let go of its version hears its first call") func delivery09() throws {
    let scene = try ThingScene()
    let (heard, token) = begin(scene)
    scene.store.invalidate()
    scene.store.refresh()
    #expect(heard.take() == [.initial(4)])
    token.stop()
  }

  @Test("delivery-12: a commit of another is one call more, in its version") func delivery12() throws {
    let scene = try ThingScene()
    let (heard, token) = begin(scene)
    scene.store.refresh()
    try scene.set([1: 3])
    scene.store.refresh()
    #expect(heard.take() == [.initial(4), Heard.update([], [], [0])] && scene.store.version == scene.other.version)
    token.stop()
  }

  @Test("delivery-18: a turn is of one version, whatever is committed meanwhile; the next one tells that") func delivery18() throws {
    let scene = try ThingScene()
    var seen: [Int] = []
    let tokens = (0..<2).map { i in
      scene.range.observe { change in
        guard case .update = change else { return }
        seen.append(scene.range.filter { $0.value == 3 }.count)
        if i == 0, seen.count == 1 { try? scene.set([2: 3]) }
      }
    }
    scene.store.refresh()
    try scene.set([1: 3])
    scene.store.refresh()
    #expect(seen == [1, 1])
    scene.store.refresh()
    #expect(seen == [1, 1, 2, 2])
    for token in tokens { token.stop() }
  }

  @Test("delivery-19, delivery-20: a refresh, or a write, tells everything in one call") func delivery19() throws {
    let scene = try ThingScene()
    let (heard, token) = begin(scene)
    scene.store.refresh()
    _ = heard.take()
    try scene.set([1: 3])
    try scene.set([2: 5])
    scene.store.refresh()
    #expect(heard.take() == [Heard.update([], [], [0, 1])])
    try scene.set([1: 2])
    try scene.set([2: 4])
    try scene.store.beginWrite()
    #expect(heard.take() == [Heard.update([], [], [0, 1])] && scene.store.version == scene.other.version)
    scene.store.cancelWrite()
    token.stop()
  }

  @Test("delivery-22: whoever begins a write does not wait for what others have to tell") func delivery22() throws {
    let scene = try ThingScene()
    let (heard, token) = begin(scene)
    scene.store.refresh()
    try scene.set([1: 3])
    try scene.other.beginWrite()
    scene.other.cancelWrite()
    #expect(heard.take() == [.initial(4)])
    token.stop()
  }

  @Test("delivery-26: a store that is gone, or reads without observing, holds no version") func delivery26() throws {
    let scene = try ThingScene()
    var gone: Store? = try Store(scene.store.configuration)
    #expect(gone?.objects(Thing.self).count == 10)
    gone = nil
    scene.store.refresh()
    for value in 0..<5 { try scene.set([1: value]) }
    scene.store.refresh()
    #expect(try scene.store.heldVersions().map(\.version).min() == scene.store.version)
  }

  @Test("delivery-29: a second observer of what has one") func delivery29() throws {
    let scene = try ThingScene()
    let (first, token) = begin(scene)
    scene.store.refresh()
    let (second, another) = begin(scene)
    scene.store.refresh()
    #expect(first.take() == [.initial(4)] && second.take() == [.initial(4)])
    token.stop()
    another.stop()
  }

  @Test("delivery-30: an object that is deleted and made again is a deletion and an insertion") func delivery30() throws {
    let scene = try Scene()
    try scene.write { store in
      for id in 0..<3 { try store.add(Leaf(id: id)) }
      try store.add(Thing(number: 7))
    }
    let (keyed, plain) = (Heard(), Heard())
    let tokens = [
      scene.store.objects(Leaf.self).observe { keyed.hear($0) }, scene.store.objects(Thing.self).observe { plain.hear($0) },
    ]
    scene.store.refresh()
    try scene.write { store in
      try store.delete(store.objects(Leaf.self).where { $0.id == 1 })
      try store.add(Leaf(id: 1))
      try store.delete(store.objects(Thing.self))
      try store.add(Thing(number: 7))
    }
    scene.store.refresh()
    #expect(keyed.take() == [.initial(3), Heard.update([1], [2])] && plain.take() == [.initial(1), Heard.update([0], [0])])
    for token in tokens { token.stop() }
  }

  // MARK: Tokens

  @Test("tokens-01, tokens-02: a token that is dropped before the turn hears nothing") func tokens01() throws {
    let scene = try ThingScene()
    let (heard, token) = begin(scene)
    scene.store.refresh()
    try scene.set([1: 3])
    token.stop()
    scene.store.refresh()
    #expect(heard.take() == [.initial(4)])
  }

  @Test("tokens-04, tokens-07: what a block begins to observe is told in the next turn, or when a write begins") func tokens04() throws {
    let scene = try ThingScene()
    let added = Heard()
    var tokens: [NotificationToken] = []
    tokens.append(
      scene.range.observe { _ in
        if tokens.count == 1 { tokens.append(scene.descending.observe { added.hear($0) }) }
      })
    try scene.store.beginWrite()
    #expect(added.take() == [])
    scene.store.cancelWrite()
    try scene.store.beginWrite()
    #expect(added.take() == [.initial(4)])
    scene.store.cancelWrite()
    for token in tokens { token.stop() }
  }

  @Test("tokens-10: a block that stops its own token stops no other") func tokens10() throws {
    let scene = try ThingScene()
    var tokens: [NotificationToken] = []
    let second = Heard()
    tokens.append(scene.range.observe { _ in tokens[0].stop() })
    tokens.append(scene.range.observe { second.hear($0) })
    scene.store.refresh()
    #expect(second.take() == [.initial(4)])
    tokens[1].stop()
  }

  @Test("tokens-11: one that is stopped before it heard anything, and one that comes then") func tokens11() throws {
    let scene = try ThingScene()
    let (first, token) = begin(scene)
    token.stop()
    let (second, another) = begin(scene)
    scene.store.refresh()
    #expect(first.take() == [] && second.take() == [.initial(4)])
    another.stop()
  }

  @Test("tokens-13: a stopped token does not hear of its object's deletion") func tokens13() throws {
    let scene = try ThingScene()
    var calls = 0
    let token = try #require(scene.all.first).observe { _ in calls += 1 }
    scene.store.refresh()
    token.stop()
    try scene.other.write { try scene.other.delete(try scene.item(0)) }
    scene.store.refresh()
    #expect(calls == 0)
  }

  // MARK: In blocks

  @Test("reentrancy-02: a block cannot take the version away that it reads") func reentrancy02() throws {
    let scene = try ThingScene()
    var count = 0
    let token = scene.range.observe { change in
      scene.store.invalidate()
      count = change.collection?.count ?? 0
    }
    scene.store.refresh()
    #expect(count == 4)
    token.stop()
  }

  @Test("reentrancy-03: a write in a block tells the newer change first, inside the block") func reentrancy03() throws {
    let scene = try ThingScene()
    var depth = 0
    var depths: [Int] = []
    let token = scene.range.observe { change in
      guard case .update = change else { return }
      depth += 1
      depths.append(depth)
      if depths.count == 1 {
        try? scene.set([2: 5])
        try? scene.store.beginWrite()
        scene.store.cancelWrite()
      }
      depth -= 1
    }
    scene.store.refresh()
    try scene.set([1: 3])
    scene.store.refresh()
    #expect(depths == [1, 2])
    token.stop()
  }

  @Test("reentrancy-07: a block does not run inside a write") func reentrancy07() throws {
    let scene = try ThingScene()
    var states: [Bool] = []
    let token = scene.range.observe { _ in states.append(scene.store.isInWriteTransaction) }
    scene.store.refresh()
    try scene.set([1: 3])
    try scene.store.write { _ = 0 }
    #expect(states == [false, false])
    token.stop()
  }

  @Test("reentrancy-08, reentrancy-09: blocks that write, while others do, leave everything in order") func reentrancy09() throws {
    let scene = try ThingScene()
    var isFirst = true
    let heard = Heard()
    let token = scene.all.observe { change in
      heard.hear(change)
      guard case .update = change, isFirst else { return }
      isFirst = false
      try? scene.scene.write { try $0.add(Thing(number: 100)) }
      try? scene.store.write { try scene.store.add(Thing(number: 101)) }
      #expect(!scene.store.isInWriteTransaction)
    }
    scene.store.refresh()
    try scene.set([1: 3])
    scene.store.refresh()
    scene.store.refresh()
    try scene.set([1: 4])
    scene.store.refresh()
    #expect(
      heard.take() == [
        .initial(10), Heard.update([], [], [1]), Heard.update([], [10]), Heard.update([], [11]), Heard.update([], [], [1]),
      ])
    token.stop()
  }
}

/// A store that is brought back to its queue.
private final class Confined: @unchecked Sendable {
  // Sound because it is touched in `queue.sync` alone.
  var store: Store?
  init(_ store: Store) { self.store = store }
}

/// Numbers that another thread adds.
private final class Calls: @unchecked Sendable {
  // Sound because it is added to on one queue, and read after that queue has signalled.
  private var numbers: [Int] = []
  func add(_ number: Int) { numbers.append(number) }
  func take() -> [Int] {
    defer { numbers = [] }
    return numbers
  }
}
