import Vivarium
import VivariumTestSupport

/// Thrown to undo a savepoint.
struct Undo: Error {}

extension SimulatedReplica {
  /// A write of a few random edits.
  func edit(_ random: inout SeededGenerator) throws {
    let store = try store
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
    let store = try store
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
    let store = try store
    if random.oneIn(8) { return try changePlain(&random) }
    let thing = try thing(&random)
    let other = try self.thing(&random)
    let text = "\(id).\(random.below(1000))"
    switch random.below(20) {
    case 0: try store.delete(thing)
    case 1, 2: thing.x = random.oneIn(5) ? nil : text
    case 3: if random.oneIn(2) { thing.n = random.below(50) } else { thing.rank = random.below(9) }
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
    let store = try store
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
