import ChangeTracker
import StorageInterface
import StoreValues
import SyncClient
import SyncModel
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// A replicated store that is edited through the public interface.
@MainActor final class LivingReplica {
  let store: Store
  let id: ReplicaID
  private(set) var taken = 0

  init(_ id: UInt64, _ given: Store.Configuration, clock: TestClock, existing: SyncConfiguration.ExistingObjects = .refuse) throws {
    self.id = ReplicaID(id)
    var configuration = given
    var sync = SyncConfiguration(existing: existing)
    sync.replica = self.id
    sync.wallClock = { clock.now() }
    configuration.replicate(sync)
    store = try Store(configuration)
  }

  /// What the file shows, and what its merge state does.
  func pictures() async throws -> (file: Picture, merged: Picture, waiting: [Changeset]) {
    let id = id
    return try await store.integrate { write in
      let sides = try #require(write.transaction.sideWriting)
      let merged = try FileState(sides).copied()
      return (try Picture(sides, own: id), Picture(merged), try Outbox.changesets(sides))
    }
  }

  /// Checks that the merge state shows what the file does, and returns that.
  @discardableResult func check(_ what: String = "") async throws -> Picture {
    let (file, merged, _) = try await pictures()
    #expect(file == merged, "\(what) replica \(id): \(file.difference(from: merged))")
    return file
  }

  /// Puts what waits on the log.
  func upload(to log: inout [Changeset]) async throws {
    let sent = Set(log.filter { $0.author == id }.map(\.clientSeq))
    for changeset in try await pictures().waiting where !sent.contains(changeset.clientSeq) {
      log.append(try Changeset(decoding: changeset.encoded()))
    }
  }

  /// Takes in what the log has, own changesets too.
  func download(_ log: [Changeset]) async throws {
    let entries = log.enumerated().dropFirst(taken).map { (changeset: $0.element, seq: Seq(UInt64($0.offset + 1))) }
    taken = log.count
    if entries.isEmpty { return }
    try await store.integrate { write in try RemoteChanges.integrate(entries, in: write) }
    store.refresh()
  }
}

/// Thrown to undo a savepoint.
struct Undo: Error {}

/// A wall clock that goes on by itself, a little each time it is asked.
final class TestClock: Sendable {
  private let time: Mutex<Int64>

  init(_ start: Int64 = 1_000_000) { time = Mutex(start) }

  func now() -> Int64 {
    time.withLock { time in
      time += 3
      return time
    }
  }
}

// MARK: - What people do

extension LivingReplica {
  /// A write of a few random edits.
  func edit(_ random: inout SeededGenerator) throws {
    try store.write {
      for _ in 0..<1 + random.below(6) {
        if random.oneIn(10) {
          try? store.savepoint {
            try change(&random)
            throw Undo()
          }
        } else {
          try change(&random)
        }
      }
    }
  }

  private func thing(_ random: inout SeededGenerator) throws -> Thing {
    let id = 1 + random.below(4)
    if let thing = store.object(Thing.self, forPrimaryKey: id) { return thing }
    let thing = Thing()
    thing.id = id
    if random.oneIn(2) {
      thing.x = "made"
      thing.texts.append("a")
      thing.numbers.insert(1)
      thing.part = Part()
    }
    try store.add(thing)
    return thing
  }

  private func change(_ random: inout SeededGenerator) throws {
    if random.oneIn(8) { return try changePlain(&random) }
    let thing = try thing(&random)
    let other = try self.thing(&random)
    let text = "\(id).\(random.below(1000))"
    switch random.below(20) {
    case 0: try store.delete(thing)
    case 1, 2: thing.x = random.oneIn(5) ? nil : text
    case 3: thing.n = random.below(50)
    case 4, 5: thing.increment(\.n, by: random.below(9) - 4)
    case 6: thing.link = random.oneIn(4) ? nil : other
    case 7, 8: edit(thing.texts, &random) { text }
    case 9, 10: edit(thing.friends, &random) { other }
    case 11: if random.oneIn(3) { thing.numbers.remove(random.below(4)) } else { thing.numbers.insert(random.below(4)) }
    case 12: if random.oneIn(3) { thing.circle.remove(other) } else { thing.circle.insert(other) }
    case 13: thing.notes[random.oneIn(2) ? "a" : "b"] = random.oneIn(3) ? nil : text
    case 14: thing.part = random.oneIn(3) ? nil : part(text)
    case 15: if let part = thing.part { change(part, text, &random) }
    case 16: edit(thing.parts, &random) { part(text) }
    case 17: if let part = thing.parts.first { change(part, text, &random) }
    case 18:
      if let part = thing.named["k"], random.oneIn(2) { change(part, text, &random) } else {
        thing.named["k"] = random.oneIn(4) ? nil : part(text)
      }
    default:
      if random.oneIn(4) { [{ thing.numbers.removeAll() }, { thing.notes.removeAll() }, { thing.circle.removeAll() }][random.below(3)]() }
      thing.extra = random.oneIn(2) ? try AnyValue(other) : [1, try AnyValue(other), AnyValue(text)]
    }
  }

  private func changePlain(_ random: inout SeededGenerator) throws {
    let all = Array(store.objects(Plain.self))
    guard let plain = all.randomElement(using: &random), !random.oneIn(3) else {
      let plain = Plain()
      plain.name = "new"
      try store.add(plain)
      plain.thing = try thing(&random)
      return
    }
    switch random.below(4) {
    case 0: try store.delete(plain)
    case 1: plain.thing = try thing(&random)
    default: plain.name = random.oneIn(4) ? nil : "p\(random.below(99))"
    }
  }

  private func part(_ text: String) -> Part {
    let part = Part()
    part.f = text
    part.inner.append(text)
    return part
  }

  private func change(_ part: Part, _ text: String, _ random: inout SeededGenerator) {
    switch random.below(3) {
    case 0: part.f = text
    case 1: part.increment(\.count)
    default: edit(part.inner, &random) { text }
    }
  }

  private func edit<T: PersistableElement>(_ list: LiveList<T>, _ random: inout SeededGenerator, _ new: () -> T) {
    let count = list.count
    switch random.below(8) {
    case 0, 1: list.append(new())
    case 2: list.insert(new(), at: random.below(count + 1))
    case 3 where count > 0: list.remove(at: random.below(count))
    case 4 where count > 1, 5 where count > 1: list.move(from: random.below(count), to: random.below(count))
    case 6 where count > 0: list[random.below(count)] = new()
    case 7 where random.oneIn(3): list.removeAll()
    default: list.insert(new(), at: 0)
    }
  }
}
