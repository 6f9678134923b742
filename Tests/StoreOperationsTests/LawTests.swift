import StoreOperations
import Testing
import Vivarium
import VivariumTestSupport

/// The laws that make composing safe to refactor, over random operations on equal stores.
@Suite struct LawTests {
  /// What a run gave and left behind.
  private struct Outcome: Equatable {
    var result: Int?
    var error: Refused?
    var dogs: [String]
  }

  private func outcome(_ io: StoreRW<Int>) throws -> Outcome {
    let store = try makeStore()
    var outcome = Outcome(dogs: [])
    do { outcome.result = try store.run(io: io) } catch let error as Refused { outcome.error = error }
    outcome.dogs = store.objects(Dog.self).map { "\($0.name) \($0.age)" }
    return outcome
  }

  /// An operation that reads, writes or fails, by a number.
  private static func operation(_ seed: Int, _ value: Int) -> StoreRW<Int> {
    switch (seed &+ value) % 7 {
    case 0: StoreRW(error: Refused(number: value % 5))
    case 1, 2: StoreRO { $0.objects(Dog.self).count &+ value }.writeIO
    case 3: StoreRW(value: value &* 3)
    default:
      Store.IO.create(Dog.self, value: ["name": "\(seed % 9)", "age": value % 100], update: .modified).map { $0.age &+ seed }
    }
  }

  @Test func identityAndAssociativityHold() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<60 {
      let (a, b, c, value) = (random.below(50), random.below(50), random.below(50), random.below(50))
      let f: @Sendable (Int) -> StoreRW<Int> = { Self.operation(a, $0) }
      let g: @Sendable (Int) -> StoreRW<Int> = { Self.operation(b, $0) }
      let m = Self.operation(c, value)
      #expect(try outcome(StoreRW(value: value).flatMap(f)) == outcome(f(value)))
      #expect(try outcome(m.flatMap { StoreRW(value: $0) }) == outcome(m))
      #expect(try outcome(m.flatMap(f).flatMap(g)) == outcome(m.flatMap { f($0).flatMap(g) }))
      #expect(try outcome(m.map { $0 &+ 1 }) == outcome(m.flatMap { StoreRW(value: $0 &+ 1) }))
      #expect(try outcome(m.zip(f(value)).map { $0 &+ $1 }) == outcome(m.flatMap { x in f(value).map { x &+ $0 } }))
    }
  }

  @Test func sequencesKeepTheirOrderAndStopAtAFailure() throws {
    let store = try makeStore()
    let names = (0..<100).map { "Dog \($0)" }
    let dogs = try store.run(io: Store.IO.traverse(names) { name in Store.IO.add(Dog(name: name)) })
    #expect(dogs.map(\.name) == names)
    let empty: StoreRO<[Int]> = Store.IO.sequence([])
    #expect(try store.run(io: empty).isEmpty)
    let stopped = Store.IO.sequence([
      Store.IO.add(Dog(name: "a")), StoreRW(error: Refused(number: 1)), StoreRW(error: Refused(number: 2)),
    ])
    #expect(throws: Refused(number: 1)) { try store.run(io: stopped) }
    #expect(store.objects(Dog.self).count == 100)
    let (count, name, flag) = try store.run(
      io: Store.IO.zip(StoreRO { $0.objects(Dog.self).count }, StoreRO(value: "x"), StoreRO(value: true)))
    #expect(count == 100 && name == "x" && flag)
  }
}
