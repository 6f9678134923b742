import StoreReactive
import Testing
import Vivarium
import VivariumTestSupport

@Suite struct SinkTests {
  @Test func everyValueIsOneTransaction() throws {
    let store = try makeStore()
    let source = PassthroughSubject<Lap, Never>()
    let before = store.version
    let sink = source.write(with: Live.add(to: store))
    source.send(Lap(number: 1))
    source.send(Lap(number: 2))
    #expect(store.objects(Lap.self).map(\.number) == [1, 2])
    #expect(store.version.rawValue == before.rawValue + 2)
    sink.cancel()
    source.send(Lap(number: 3))
    #expect(store.objects(Lap.self).count == 2)
  }

  @Test func aBatchIsOneTransactionAndItsRestComesAtTheEnd() throws {
    let store = try makeStore()
    let source = PassthroughSubject<Lap, Never>()
    let before = store.version
    let sink = source.write(with: Live.add(to: store, batch: 3))
    for number in 1...4 { source.send(Lap(number: number)) }
    #expect(store.objects(Lap.self).count == 3 && store.version.rawValue == before.rawValue + 1)
    source.send(completion: .finished)
    #expect(store.objects(Lap.self).count == 4 && store.version.rawValue == before.rawValue + 2)
    sink.cancel()
  }

  @Test func whoeverHearsOfARefusedBatchHasItsValues() throws {
    let store = try makeStore()
    try store.write { try store.add(Lap(number: 2)) }
    let source = PassthroughSubject<Lap, Never>()
    var kept: [Lap] = []
    let sink = source.write(with: Live.add(to: store, batch: 2) { laps, _ in kept += laps })
    for number in 1...2 { source.send(Lap(number: number)) }
    #expect(kept.map(\.number) == [1, 2] && kept.allSatisfy { !$0.isManaged } && store.objects(Lap.self).count == 1)
    sink.cancel()
    let lists = PassthroughSubject<[Lap], Never>()
    let all = lists.write(with: Live.add(all: [Lap].self, to: store) { laps, _ in kept = laps.flatMap { $0 } })
    lists.send([Lap(number: 3), Lap(number: 2)])
    #expect(kept.map(\.number) == [3, 2] && kept.allSatisfy { !$0.isManaged })
    all.cancel()
  }

  @MainActor @Test func aBatchThatIsNotFullIsWrittenInTime() async throws {
    let store = try Store(makeConfiguration())
    let source = PassthroughSubject<Lap, Never>()
    let before = store.version
    let sink = source.write(with: Live.add(to: store, batch: 1_000, within: .milliseconds(5)))
    // One alone: of several, those that a busy machine sends late would be a batch of their own.
    source.send(Lap(number: 1))
    #expect(store.objects(Lap.self).isEmpty)
    for try await laps in Live.collection(from: store.objects(Lap.self)).values where !laps.isEmpty { break }
    #expect(store.objects(Lap.self).count == 1 && store.version.rawValue == before.rawValue + 1)
    // A timer of a batch that was full before is none of the next one's.
    let more = PassthroughSubject<Lap, Never>()
    let full = more.write(with: Live.add(to: store, batch: 2, within: .seconds(3_600)))
    for number in 2...3 { more.send(Lap(number: number)) }
    #expect(store.objects(Lap.self).count == 3)
    full.cancel()
    sink.cancel()
  }

  @Test func withoutAContextTheNextValueBringsWhatIsDue() throws {
    let store = try makeStore()
    let source = PassthroughSubject<Lap, Never>()
    let sink = source.write(with: Live.add(to: store, batch: 1_000, within: .zero))
    source.send(Lap(number: 1))
    #expect(store.objects(Lap.self).isEmpty)
    source.send(Lap(number: 2))
    #expect(store.objects(Lap.self).count == 2)
    sink.cancel()
  }

  @Test func aSequenceIsOneTransaction() throws {
    let store = try makeStore()
    let source = PassthroughSubject<[Lap], Never>()
    let before = store.version
    let sink = source.write(with: Live.add(all: [Lap].self, to: store))
    source.send([Lap(number: 1), Lap(number: 2)])
    #expect(store.objects(Lap.self).count == 2 && store.version.rawValue == before.rawValue + 1)
    sink.cancel()
  }

  @Test func errorsGoToWhomItConcernsAndEndNothing() throws {
    let store = try makeStore()
    let source = PassthroughSubject<Lap, Never>()
    var refused: [Int] = []
    let sink = source.write(with: Live.add(to: store) { laps, _ in refused += laps.map(\.number) })
    for number in [1, 1, 2] { source.send(Lap(number: number)) }
    #expect(refused == [1] && store.objects(Lap.self).count == 2)
    sink.cancel()
  }

  @Test func aSinkKeepsItsStoreUntilItEnds() throws {
    let configuration = makeConfiguration()
    var store: Store? = try Store(configuration, isolation: nil)
    let kept = Weak(store)
    let source = PassthroughSubject<Lap, Never>()
    let sink = source.write(with: Live.add(to: try #require(store)))
    store = nil
    #expect(kept.store != nil)
    source.send(completion: .finished)
    #expect(kept.store == nil)
    sink.cancel()
  }

  @Test func aSinkOfAConfigurationKeepsNoStore() throws {
    let configuration = makeConfiguration()
    let store = try Store(configuration, isolation: nil)
    let source = PassthroughSubject<Lap, Never>()
    let sink = source.write(with: Live.add(configuration: configuration))
    source.send(Lap(number: 1))
    store.refresh()
    #expect(store.objects(Lap.self).count == 1)
    sink.cancel()
  }

  @Test func aConfigurationTakesSequencesToo() throws {
    let configuration = makeConfiguration()
    let store = try Store(configuration, isolation: nil)
    let source = PassthroughSubject<[Lap], Never>()
    let before = store.version
    var refused = 0
    let sink = source.write(
      with: Live.add(all: [Lap].self, configuration: configuration, onError: { values, _ in refused += values.count }))
    source.send([Lap(number: 1), Lap(number: 2)])
    // All of a sequence or none of it.
    source.send([Lap(number: 3), Lap(number: 1)])
    source.send([Lap(number: 4)])
    store.refresh()
    #expect(store.objects(Lap.self).map(\.number) == [1, 2, 4] && store.version.rawValue == before.rawValue + 2)
    #expect(refused == 1)
    sink.cancel()
  }

  @Test func deletingTakesObjectsFromTheirStore() throws {
    let store = try makeStore()
    try store.write { for number in 1...4 { try store.add(Lap(number: number)) } }
    func lap(_ number: Int) throws -> Lap { try #require(store.object(Lap.self, forPrimaryKey: number)) }
    let (one, many) = (PassthroughSubject<Lap, Never>(), PassthroughSubject<[Lap], Never>())
    let sinks = [
      one.write(with: Live.delete(from: store)), one.write(with: Live.delete { _, _ in }),
      many.write(with: Live.delete(all: [Lap].self)),
    ]
    one.send(try lap(1))
    many.send([try lap(2), try lap(3)])
    many.send([])
    #expect(store.objects(Lap.self).map(\.number) == [4])
    for sink in sinks { sink.cancel() }
  }

  @Test func deletingFromAStoreRefusesObjectsOfAnother() throws {
    let (store, other) = (try makeStore(), try makeStore())
    for store in [store, other] { try store.write { try store.add(Lap(number: 1)) } }
    let (one, many) = (PassthroughSubject<Lap, Never>(), PassthroughSubject<[Lap], Never>())
    var codes: [StoreError.Code?] = []
    let sinks = [
      one.write(with: Live.delete(from: store) { codes.append(($1 as? StoreError)?.code) }),
      many.write(with: Live.delete(all: [Lap].self, from: store) { codes.append(($1 as? StoreError)?.code) }),
    ]
    let foreign = try #require(other.objects(Lap.self).first)
    one.send(foreign)
    many.send([foreign])
    #expect(codes == [.wrongStore, .wrongStore])
    #expect(store.objects(Lap.self).count == 1 && other.objects(Lap.self).count == 1)
    for sink in sinks { sink.cancel() }
  }
}

private final class Weak {
  private(set) weak var store: Store?

  init(_ store: Store?) { self.store = store }
}
