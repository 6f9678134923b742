import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Ship {
  @PrimaryKey var number = 0
  var name = ""
  var weight = 0
  @Indexed var port = 0
  var captain: Sailor?
  var crew: LiveList<Sailor>
  var tags: LiveSet<String>
}

@Model final class Sailor {
  @PrimaryKey var number = 0
  var name = ""
  var age = 0
  @Inverse(\Ship.crew) var ships: LinkingObjects<Ship>
}

/// Results that nobody observes are asked again after commits that touched what they read, and after no others.
@Suite struct CarriedResultsTests {
  private static let models: [any SchemaDescribing.Type] = [Ship.self, Sailor.self]

  /// Two stores of one file, with ten ships and ten sailors.
  private func makeStores(_ engine: Engine) throws -> (store: Store, other: Store, directory: TemporaryDirectory) {
    let (configuration, directory) = engine.place(Self.models)
    let store = try Store(configuration)
    try store.write {
      for i in 0..<10 {
        try store.add(Sailor(number: i, name: "\(i)", age: i * 7 % 10))
        try store.add(Ship(number: i, name: "\(i)", weight: i * 3 % 10, port: i % 3))
      }
    }
    let other = try Store(configuration)
    store.refresh()
    return (store, other, directory)
  }

  private func ship(_ store: Store, _ number: Int) throws -> Ship { try #require(store.object(Ship.self, forPrimaryKey: number)) }
  private func sailor(_ store: Store, _ number: Int) throws -> Sailor { try #require(store.object(Sailor.self, forPrimaryKey: number)) }

  @Test(arguments: Engine.allCases) func aCommitThatTouchesNothingOfAResultAsksItNotAgain(engine: Engine) throws {
    let (store, other, directory) = try makeStores(engine)
    defer { withExtendedLifetime(directory) {} }
    let results = [
      store.objects(Ship.self), store.objects(Ship.self).sorted(by: \.weight),
      store.objects(Ship.self).where { $0.weight > 3 }.sorted(by: \.port).limited(to: 4),
      store.objects(Ship.self).where { $0.captain.age > 3 },
    ]
    func work(_ writer: Store, _ body: () throws -> Void) throws -> [Int] {
      for result in results { _ = result.last }
      try writer.write { try body() }
      store.refresh()
      return results.map { result in
        let before = store.evaluationCount
        _ = result.last
        return store.evaluationCount - before
      }
    }
    for writer in [store, other] {
      #expect(try work(writer) { try ship(writer, 2).name += "x" } == [0, 0, 0, 0])
      #expect(try work(writer) { try sailor(writer, 2).name += "x" } == [0, 0, 0, 0])
      #expect(try work(writer) { try ship(writer, 2).weight += 1 } == [0, 1, 1, 0])
      #expect(try work(writer) { try ship(writer, 2).port += 1 } == [0, 0, 1, 0])
      #expect(try work(writer) { try sailor(writer, 3).age += 1 } == [0, 0, 0, 1])
      #expect(try work(writer) { try ship(writer, 4).captain = try sailor(writer, writer === store ? 5 : 6) } == [0, 0, 0, 1])
      #expect(try work(writer) { try writer.add(Sailor(number: writer === store ? 20 : 21)) } == [0, 0, 0, 0])
      #expect(try work(writer) { try writer.add(Ship(number: writer === store ? 20 : 21)) } == [1, 1, 1, 1])
      #expect(try work(writer) { try writer.delete(try ship(writer, writer === store ? 8 : 9)) } == [1, 1, 1, 1])
    }
    // Many commits at once, and too many to look at each.
    for _ in 0..<50 { try other.write { try ship(other, 2).name += "y" } }
    store.refresh()
    let before = store.evaluationCount
    for result in results { _ = result.last }
    #expect(store.evaluationCount == before)
    for _ in 0..<300 { try other.write(durability: .relaxed) { try ship(other, 2).name = "\(other.version)" } }
    store.refresh()
    _ = results[1].last
    #expect(store.evaluationCount == before + 1)
  }

  @Test(arguments: Engine.allCases) func whatAWriteShowedIsNotShownOnceItIsUndone(engine: Engine) throws {
    let (store, other, directory) = try makeStores(engine)
    defer { withExtendedLifetime(directory) {} }
    let heavy = store.objects(Ship.self).where { $0.weight > 100 }
    #expect(heavy.toArray().isEmpty)
    let before = store.evaluationCount
    try store.beginWrite()
    #expect(heavy.count == 0 && store.evaluationCount == before)
    try ship(store, 1).weight = 101
    #expect(heavy.map(\.number) == [1])
    store.cancelWrite()
    #expect(heavy.toArray().isEmpty)
    try store.write {
      try? store.savepoint {
        try ship(store, 2).weight = 102
        #expect(heavy.map(\.number) == [2])
        throw StoreError(.invalidQuery, "no")
      }
      #expect(heavy.toArray().isEmpty)
    }
    #expect(heavy.toArray().isEmpty)
    store.invalidate()
    #expect(store.objects(Ship.self).isEmpty && heavy.isEmpty)
    try other.write { try ship(other, 3).weight = 103 }
    store.refresh()
    #expect(heavy.map(\.number) == [3])
    store.invalidate()
    #expect(heavy.isEmpty)
    store.refresh()
    #expect(heavy.map(\.number) == [3])
  }

  @Test(arguments: Engine.allCases) func resultsThatAreKeptSayWhatNewOnesSay(engine: Engine) throws {
    let (store, other, directory) = try makeStores(engine)
    defer { withExtendedLifetime(directory) {} }
    var random = SeededGenerator.forTest()
    // What is kept over the whole history, and how it is made anew.
    let ships: [() -> Results<Ship>] = [
      { store.objects(Ship.self) },
      { store.objects(Ship.self).sorted(by: \.weight) },
      { store.objects(Ship.self).sorted(by: [SortKey(\Ship.port, ascending: false), SortKey(\Ship.name)]) },
      { store.objects(Ship.self).where { $0.port == 1 } },
      { store.objects(Ship.self).where { $0.weight > 4 }.sorted(by: \.name).limited(to: 3) },
      { store.objects(Ship.self).sorted(by: \.weight).limited(to: 5).where { $0.port != 2 } },
      { store.objects(Ship.self).where { $0.captain.age > 4 } },
      { store.objects(Ship.self).filter("ANY crew.age > 6 SORT(captain.name ASC)") },
      { store.objects(Ship.self).filter("crew.@count > 1 OR 'a' IN tags") },
      { store.objects(Ship.self).filter("SUBQUERY(crew, $s, $s.age > 4 AND $s.name != 'x').@count > 0") },
      { store.objects(Ship.self).filter("TRUEPREDICATE DISTINCT(port)") },
    ]
    let sailors: [() -> Results<Sailor>] = [
      { store.objects(Sailor.self).where { $0.age > 4 } },
      { store.objects(Sailor.self).filter("ships.@count > 0 SORT(age DESC)") },
      { store.objects(Sailor.self).filter("ANY ships.weight > 5") },
      { store.object(Ship.self, forPrimaryKey: 0)?.crew.results(in: store).sorted(by: \.age) ?? store.objects(Sailor.self) },
      { store.object(Ship.self, forPrimaryKey: 0)?.crew.results(in: store).where { $0.age > 3 } ?? store.objects(Sailor.self) },
    ]
    let (keptShips, keptSailors) = (ships.map { $0() }, sailors.map { $0() })
    func agree(_ step: Int) {
      for (i, made) in ships.enumerated() where random.oneIn(2) {
        let (kept, new) = (keptShips[i], made())
        // Counts and firsts are found in ways of their own.
        if random.oneIn(2) { #expect(kept.count == new.count, "ships \(i), step \(step)") }
        if random.oneIn(3) { #expect(kept.first?.number == made().first?.number, "ships \(i), step \(step)") }
        #expect(kept.map(\.number) == new.map(\.number), "ships \(i), step \(step)")
      }
      for (i, made) in sailors.enumerated() where random.oneIn(2) {
        let (kept, new) = (keptSailors[i], made())
        if random.oneIn(2) { #expect(kept.count == new.count, "sailors \(i), step \(step)") }
        #expect(kept.map(\.number) == new.map(\.number), "sailors \(i), step \(step)")
      }
    }
    for step in 0..<environmentNumber("VIVARIUM_STEPS", default: 120) {
      let writer = random.oneIn(2) ? store : other
      try writer.beginWrite()
      for _ in 0...random.below(3) {
        edit(writer, &random)
        if writer === store, random.oneIn(6) { agree(step) }
      }
      if random.oneIn(5) { writer.cancelWrite() } else { try writer.commitWrite(durability: .relaxed) }
      if writer === store { agree(step) }
      if random.oneIn(10) {
        store.invalidate()
        #expect(keptShips[1].isEmpty)
      }
      if random.oneIn(3) || store.isEmptied {
        store.refresh()
        agree(step)
      }
    }
    store.refresh()
    agree(-1)
  }

  /// One random edit of what is there.
  private func edit(_ store: Store, _ random: inout SeededGenerator) {
    let ship = store.object(Ship.self, forPrimaryKey: random.below(14))
    let sailor = store.object(Sailor.self, forPrimaryKey: random.below(14))
    let number = random.below(10)
    switch random.below(16) {
    case 0, 1: ship?.weight = number
    case 2: ship?.port = number % 3
    case 3: ship?.name = "\(number)"
    case 4: ship?.captain = number < 3 ? nil : sailor
    case 5, 6: if let sailor { ship?.crew.append(sailor) }
    case 7: if let ship, !ship.crew.isEmpty { ship.crew.remove(at: number % ship.crew.count) }
    case 8: ship?.tags.insert(number < 5 ? "a" : "b")
    case 9: ship?.tags.remove("a")
    case 10, 11: sailor?.age = number
    case 12: sailor?.name = number < 2 ? "x" : "\(number)"
    case 13:
      if let ship, ship.number != 0 { try? store.delete(ship) } else { _ = try? store.add(Ship(number: 10 + number % 4, weight: 7)) }
    case 14: if let sailor { try? store.delete(sailor) }
    default: _ = try? store.add(Sailor(number: random.below(14), name: "\(number)", age: number))
    }
  }
}

extension Store {
  /// Whether it shows nothing, as after `invalidate()`: there is always a ship.
  fileprivate var isEmptied: Bool { objects(Ship.self).isEmpty }
}
