import ResultsControl
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Bead {
  @Indexed var number = 0
  var words: LiveList<String>
  var tags: LiveSet<Int>
  var others: LiveList<Bead>
  var notes: LiveMap<String>
  @Inverse(\Bead.others) var holders: LinkingObjects<Bead>
}

final class BeadLabel: Projection<Bead> {
  @Projected(\Bead.number) var number
}

/// No position and no range ends the program, under the policy that ships: others may delete what was there a moment ago.
@Suite struct PositionalCollectionTests {
  /// Numbers of elements are asked of all kinds of collections, in generic code, as the standard library's algorithms do.
  private func expectWhatIsThere<C: PositionalCollection>(_ collection: C, _ count: Int, _ what: Comment) {
    func has(_ slice: Slice<C>, _ range: Range<Int>) {
      #expect(slice.startIndex == range.lowerBound && slice.endIndex == range.upperBound && slice.count == range.count, what)
      #expect(slice.map { _ in 1 }.count == range.count, what)
    }
    let end = count..<count
    has(collection[0..<count + 5], 0..<count)
    has(collection[-3..<count], 0..<count)
    has(collection[count + 2..<count + 9], end)
    has(collection[-9..<(-3)], 0..<0)
    has(collection[Int.min..<Int.max], 0..<count)
    has(collection[(count + 3)...], end)
    has(collection[(-1)...], 0..<count)
    has(collection[..<(-1)], 0..<0)
    has(collection[...(-2)], 0..<0)
    has(collection[...Int.max], 0..<count)
    has(collection[0...Int.max], 0..<count)
    has(collection[...], 0..<count)
    has(collection.suffix(from: count + 4), end)
    has(collection.prefix(upTo: -4), 0..<0)
    has(collection.prefix(through: -4), 0..<0)
    has(collection.prefix(-1), 0..<0)
    has(collection.prefix(.max), 0..<count)
    has(collection.suffix(-1), end)
    has(collection.dropFirst(-1), 0..<count)
    has(collection.dropFirst(.max), end)
    has(collection.dropLast(-1), 0..<count)
    has(collection.dropLast(.max), 0..<0)
    #expect(collection.index(after: .max) == .min && collection.distance(from: 9, to: -9) == -18, what)
    #expect(collection.index(0, offsetBy: 100, limitedBy: collection.endIndex) == nil, what)
    #expect(collection.indices == 0..<count, what)
    _ = collection[0..<count][count + 7]
    _ = collection[0..<count][2..<count + 7]
  }

  @Test(arguments: Engine.allCases) func rangesAreCutToWhatIsThere(engine: Engine) throws {
    let (configuration, directory) = engine.place([Bead.self])
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let bead = Bead()
    try store.write {
      try store.add(bead)
      bead.words.append(contentsOf: ["a", "b", "c"])
      bead.tags.formUnion([1, 2])
      bead.others.append(bead)
      bead.notes["k"] = "v"
    }
    let all = store.objects(Bead.self)
    expectWhatIsThere(all, 1, "results")
    expectWhatIsThere(all.where { $0.number == 1 }, 0, "none")
    expectWhatIsThere(bead.words, 3, "a list")
    expectWhatIsThere(bead.tags, 2, "a set")
    expectWhatIsThere(bead.others, 1, "a list of objects")
    expectWhatIsThere(bead.holders, 1, "an inverse")
    expectWhatIsThere(AnyStoreCollection(all), 1, "any collection")
    expectWhatIsThere(AnyStoreCollection(bead.notes), 1, "the entries of a map")
    expectWhatIsThere(try store.dynamicObjects("Bead"), 1, "results by name")
    expectWhatIsThere(all.projected(to: BeadLabel.self), 1, "projections")
    let controller = try ResultsController(request: ResultsRequest<Bead>(store: store, sortedBy: [SortKey(\Bead.number)]))
    controller.performFetch()
    expectWhatIsThere(try #require(controller.sections.first), 1, "a section")
  }

  @Test func aRangeOfAListCanBeSet() throws {
    let store = try Store(Engine.memory.place([Bead.self]).configuration)
    let bead = Bead()
    try store.write {
      try store.add(bead)
      bead.words.append(contentsOf: ["a", "b", "c", "d"])
      bead.words[1..<2] = bead.words[3..<4]
      bead.words[2...] = bead.words[0..<1]
      bead.words[...0] = bead.words[1...1]
    }
    #expect(bead.words.toArray() == ["d", "d", "a"])
  }

  @Test func aSliceIsWalkedWhileItsObjectsGo() throws {
    let store = try Store(Engine.memory.place([Bead.self]).configuration)
    try store.write { for number in 0..<10 { try store.add(Bead(number: number)) } }
    let all = store.objects(Bead.self)
    var met = 0
    try store.write {
      for bead in all[0..<10] {
        met += 1
        if !bead.isInvalidated { try store.delete(bead) }
      }
    }
    // Each second one moved up before its position came.
    #expect(met == 10 && all.count == 5)
  }
}
