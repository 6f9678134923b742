import ChangeTracker
import StorageInterface
import StoreValues
import SyncClient
import SyncModel
import Testing
import Vivarium
import VivariumTestSupport

@testable import SyncSimulation

/// A store on an engine that makes random changesets and takes in those of others.
@MainActor final class Replica {
  let id: ReplicaID
  let store: Store
  private(set) var state = KeptState()
  private var clock: HybridClock
  private var clientSeq: UInt64 = 0
  private var elements: UInt64 = 0
  private var created: Int64 = 0
  private var time: Int64 = 1_000

  init(_ id: UInt64, _ configuration: Store.Configuration) throws {
    self.id = ReplicaID(id)
    clock = HybridClock(replica: ReplicaID(id))
    store = try Store(configuration)
  }

  /// Takes in changesets in one write, and checks that the file shows what the merge state does.
  func integrate(_ changesets: [Changeset], seq: Seq = Seq(1), author: String? = nil, isCompared: Bool = true) async throws {
    let (id, before) = (id, state)
    let (after, picture) = try await store.integrate(author: author) { write -> (KeptState, Picture) in
      let sides = try #require(write.transaction.writePowers.sides)
      var integrator = Integrator(write, sides, own: id, state: before)
      for changeset in changesets { try integrator.integrate(changeset, seq: seq) }
      try SyncCursor.write(seq, sides)
      return (integrator.state, try Picture(sides, own: id))
    }
    state = after
    for changeset in changesets { for index in changeset.operations.indices { clock.receive(changeset.stamp(of: index)) } }
    let expected = Picture(after.memory)
    if isCompared { #expect(picture == expected, "replica \(id): \(picture.difference(from: expected))") }
  }

  /// A transaction of a few random operations, which the replica takes in itself.
  func edit(_ random: inout SeededGenerator, deletesOneIn: Int = 15) async throws -> Changeset? {
    time += 3
    let first = try clock.next(8, wall: time)
    var source = PositionSource()
    var trial = state.memory
    var operations: [SyncModel.Operation] = []
    for _ in 0..<1 + random.below(6) {
      let stamp = first.advanced(by: operations.count)
      var author = RandomAuthor(state: trial, replica: id, elements: elements, created: created)
      guard let operation = author.operation(stamp, &source, &random, deletesOneIn) else { continue }
      (elements, created) = (author.elements, author.created)
      _ = Merge.apply(operation, at: stamp, seq: .pending, to: &trial)
      operations.append(operation)
    }
    if operations.isEmpty { return nil }
    clientSeq += 1
    let changeset = Changeset(clientSeq: clientSeq, baseSeq: .zero, first: first, operations: operations)
    try await integrate([changeset], seq: .pending)
    return changeset
  }

  func picture() -> Picture { Picture(state.memory) }
}

/// Operations that somebody would make who sees a state.
struct RandomAuthor {
  let state: MemoryState
  let replica: ReplicaID
  var elements: UInt64
  var created: Int64

  private func epoch(_ object: ObjectIdentity) -> Stamp { state.record(of: object)?.node.guarding.epoch ?? .zero }

  private func link(_ object: ObjectIdentity) -> CellValue { .link(LinkTarget(object, epoch: epoch(object))) }

  private static func thing(_ random: inout SeededGenerator) -> ObjectIdentity {
    ObjectIdentity("Thing", .int(Int64(1 + random.below(4))))
  }

  mutating func operation(
    _ stamp: Stamp, _ source: inout PositionSource, _ random: inout SeededGenerator, _ deletesOneIn: Int
  ) -> SyncModel.Operation? {
    if random.oneIn(8) { return plain(&random) }
    let object = RandomAuthor.thing(&random)
    guard let record = state.record(of: object), record.isAlive else { return make(object, [], .create) }
    if random.oneIn(deletesOneIn) { return make(object, [], .delete) }
    guard let (path, action) = change(of: object, record.node.contents, stamp, &source, &random) else { return nil }
    return make(object, path, action)
  }

  private mutating func plain(_ random: inout SeededGenerator) -> SyncModel.Operation {
    let alive = state.records.filter { $0.key.className == "Plain" && $0.value.isAlive }.map(\.key).sorted()
    guard let object = alive.randomElement(using: &random), !random.oneIn(4) else {
      created += 1
      // A number that the creator's file may never have given out: the names are of the model alone here.
      return make(ObjectIdentity("Plain", .created(replica, ObjectKey(1_000_000 + created))), [], .create)
    }
    switch random.below(6) {
    case 0: return make(object, [], .delete)
    case 1, 2: return make(object, [], .set("thing", link(RandomAuthor.thing(&random)), isDefault: false))
    default: return make(object, [], .set("name", .string("p\(random.below(99))"), isDefault: random.oneIn(5)))
    }
  }

  private mutating func change(
    of object: ObjectIdentity, _ contents: Contents, _ stamp: Stamp, _ source: inout PositionSource, _ random: inout SeededGenerator
  ) -> ([PathStep.Place], SyncModel.Operation.Action)? {
    let text = CellValue.string("\(replica).\(stamp.time & 0xFFFF)")
    let target = link(RandomAuthor.thing(&random))
    let isEmbedded = contents.embedded["part"]?.isMade ?? false
    switch random.below(24) {
    case 0, 1: return ([], .set("x", random.oneIn(5) ? .null : text, isDefault: random.oneIn(8)))
    case 2: return ([], .set("link", random.oneIn(6) ? .null : target, isDefault: false))
    case 3: return ([], .set("n", .int(Int64(random.below(50))), isDefault: false))
    case 4, 5: return ([], .add("n", Int64(random.below(5))))
    case 6: return ([], .set("extra", random.oneIn(2) ? .list([.int(1), target, text]) : target, isDefault: false))
    case 7, 8:
      let member = CellValue.int(Int64(random.below(4)))
      return ([.set("numbers")], random.oneIn(3) ? .eraseMember(member) : .insertMember(member))
    case 9: return ([.set("circle")], random.oneIn(3) ? .eraseMember(target) : .insertMember(target))
    case 10: return ([.map("notes")], random.oneIn(3) ? .eraseEntry("a") : .setEntry(random.oneIn(2) ? "a" : "b", text))
    case 11: return ([.embedded("part")], isEmbedded && random.oneIn(2) ? .remove : .make)
    case 12 where isEmbedded: return ([.embedded("part")], .set("f", text, isDefault: false))
    case 13 where isEmbedded: return listChange([.embedded("part"), .list("inner")], of: object, text, stamp, &source, &random)
    case 14 where random.oneIn(3):
      return ([[.list("texts")], [.list("friends")], [.set("numbers")], [.map("named")], [.list("parts")]][random.below(5)], .clear)
    case 15: return ([.map("named")], random.oneIn(3) ? .eraseEntry("k") : .setEntry("k", .null))
    case 16:
      guard contents.maps["named"]?.entries["k"]?.presence == .present else { return nil }
      return ([.map("named"), .entry("k")], random.oneIn(2) ? .make : .set("f", text, isDefault: false))
    case 17:
      let all = all(object, [.list("parts")])
      guard let element = all.randomElement(using: &random) else { return nil }
      return ([.list("parts"), .element(element.id)], element.slot.node.isMade ? .add("count", 1) : .make)
    case 18, 19: return listChange([.list("parts")], of: object, .null, stamp, &source, &random)
    case 20, 21: return listChange([.list("friends")], of: object, target, stamp, &source, &random)
    default: return listChange([.list("texts")], of: object, text, stamp, &source, &random)
    }
  }

  private func all(_ object: ObjectIdentity, _ places: [PathStep.Place]) -> [ListElement] {
    state.elements(of: ListPlace(object: object, path: places))
  }

  private mutating func listChange(
    _ places: [PathStep.Place], of object: ObjectIdentity, _ value: CellValue, _ stamp: Stamp, _ source: inout PositionSource,
    _ random: inout SeededGenerator
  ) -> ([PathStep.Place], SyncModel.Operation.Action) {
    let all = all(object, places)
    func position(_ index: Int, _ list: [ListElement]) -> ListPosition {
      source.position(
        after: index > 0 ? list[index - 1].position : nil, before: index < list.count ? list[index].position : nil, stamp: stamp)
    }
    guard let chosen = all.randomElement(using: &random), !random.oneIn(3) else {
      elements += 1
      let index = [0, all.count, random.below(all.count + 1)][random.below(3)]
      return (places, .insert(ElementID(replica, elements), at: position(index, all), value))
    }
    switch random.below(4) {
    case 0: return (places, .erase(chosen.id, near: chosen.position))
    case 1: return (places, .setElement(chosen.id, near: chosen.position, value))
    default:
      let rest = all.filter { $0.id != chosen.id }
      return (places, .move(chosen.id, from: chosen.position, to: position(random.below(rest.count + 1), rest)))
    }
  }

  private func make(_ object: ObjectIdentity, _ places: [PathStep.Place], _ action: SyncModel.Operation.Action) -> SyncModel.Operation {
    var contents = state.record(of: object)?.node.contents ?? Contents()
    var map = EntryMap()
    var steps: [PathStep] = []
    for (index, place) in places.enumerated() {
      let node: Node
      switch place {
      case .list(let name):
        steps.append(PathStep(place, epoch: contents.lists[name]?.guarding.epoch ?? .zero))
        continue
      case .set(let name):
        steps.append(PathStep(place, epoch: contents.sets[name]?.guarding.epoch ?? .zero))
        continue
      case .map(let name):
        map = contents.maps[name] ?? EntryMap()
        steps.append(PathStep(place, epoch: map.guarding.epoch))
        continue
      case .embedded(let name): node = contents.embedded[name] ?? Node()
      case .entry(let key): node = map.entries[key]?.slot.node ?? Node()
      case .element(let id):
        let element = state.element(id, near: .none, of: ListPlace(object: object, path: Array(places[..<index])))
        node = element?.slot.node ?? Node()
        steps.append(PathStep(place, epoch: node.guarding.epoch, near: element?.position ?? .none))
        contents = node.contents
        continue
      }
      steps.append(PathStep(place, epoch: node.guarding.epoch))
      contents = node.contents
    }
    return SyncModel.Operation(object, epoch: epoch(object), path: steps, action)
  }
}
