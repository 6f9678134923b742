import ChangeTracker
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

/// An observer as the oracle knows it: the array it holds, and where it believes the rows stand.
private struct Observer {
  var net: NetChanges
  var array: [Int64]
  var places: [Int64: OrderedRow] = [:]
  var filter: ModificationFilter
  var marks: [Int64: RowMarks] = [:]
  /// Whether it also skips steps while it has others pending.
  var skips: Bool

  init(_ history: ViewHistory, _ version: ViewVersion, _ filter: ModificationFilter, skips: Bool) {
    net = NetChanges(base: version)
    array = history.result
    self.filter = filter
    self.skips = skips
    for key in array { places[key] = history.place(key) }
  }

  mutating func hear(_ step: ViewStep) {
    net.add(step)
    for row in step.rows { marks[row.key, default: RowMarks()].formUnion(row.marks) }
  }

  /// What the step did to the view is done to what is known: a row that came with a step which waits is not known by being
  /// touched, and one that went with such a step stays known until that is told.
  mutating func skip(_ step: ViewStep, from before: ViewHistory, to history: ViewHistory) throws {
    try net.skip(step, before.fullKeys)
    for row in step.rows {
      let (old, new) = (before.place(row.key), history.place(row.key))
      switch (old, new) {
      case (nil, nil): continue
      case (_?, _?) where places[row.key] == nil: continue
      case (let old, let new):
        if old != new { places[row.key] = new }
        // One that stands elsewhere since a step that waits is touched still, though no property of it is.
        marks[row.key] = places[row.key] == new ? nil : RowMarks()
      }
    }
    array = places.values.sorted().map(\.key)
  }

  func oracle(_ history: ViewHistory) -> ChangeSetOracle {
    let new = history.result
    return ChangeSetOracle(
      old: array, new: new, modified: Set(marks.filter { filter.wants($0.value) }.map(\.key)),
      reordered: Set(new.filter { places[$0] != nil && places[$0] != history.place($0) }))
  }
}

@Suite struct NetChangesTests {
  private static let filters: [ModificationFilter] = [
    .all, .only(PropertySet([PropertyID(1)]), paths: 0), .none, .all, .all,
  ]

  /// Every step against the whole result, then the observers, each delivered to at its own moments and two of them
  /// skipping steps: every change set is exactly what the arrays say, with the fewest moves.
  @Test func randomHistoriesReplayExactly() throws {
    var random = SeededGenerator.forTest()
    var delivered = 0
    for _ in 0..<environmentNumber("VIVARIUM_HISTORIES", default: 150) {
      delivered += try Self.run(ViewHistory(random.fork()))
    }
    print("change sets compared: \(delivered)")
  }

  private static func run(_ start: ViewHistory) throws -> Int {
    var history = start
    let view = history.makeView()
    var observers = filters.enumerated().map { i, filter in
      Observer(history, view.latest, filter, skips: i >= 3)
    }
    var delivered = 0
    for _ in 0..<4 + history.random.below(12) {
      let (before, keysBefore, old) = (history, history.fullKeys, view.latest)
      let changes = history.step()
      let step = try view.apply(changes, before: keysBefore, after: history.fullKeys)
      #expect(view.latest.allKeys == history.result)
      #expect(old.allKeys == before.result, "an old version changed")
      delivered += try check(step, from: before, to: history)
      for i in observers.indices {
        if observers[i].skips, history.random.oneIn(3) {
          try observers[i].skip(step, from: before, to: history)
          try checkKnown(observers[i], &history.random)
        } else {
          observers[i].hear(step)
        }
        #expect(observers[i].net.pendingRows <= observers[i].array.count + view.count)
        guard history.random.oneIn(4) else { continue }
        let oracle = observers[i].oracle(history)
        let set = try observers[i].net.changeSet(to: view.latest, history.fullKeys, observers[i].filter)
        let fault = oracle.fault(in: set)
        #expect(fault == nil, "seed \(start.random.seed), observer \(i): \(oracle.old) to \(oracle.new) by \(set)")
        delivered += 1
        observers[i] = Observer(history, view.latest, filters[i], skips: observers[i].skips)
      }
    }
    #expect(view.keepsOnly(observers.map(\.net.base)), "seed \(start.random.seed): nodes are lost or kept")
    return delivered
  }

  /// What a token knows, whole and by windows of it.
  private static func checkKnown(_ observer: Observer, _ random: inout SeededGenerator) throws {
    let count = observer.array.count
    #expect(observer.net.knownCount == count && observer.net.knownKeys(in: 0..<count) == observer.array)
    let start = random.below(count + 2)
    let window = start..<start + random.below(6)
    #expect(observer.net.knownKeys(in: window) == Array(observer.array[window.clamped(to: 0..<count)]))
  }

  private static func check(_ step: ViewStep, from old: ViewHistory, to new: ViewHistory) throws -> Int {
    let keys = Set(step.rows.map(\.key))
    let oracle = ChangeSetOracle(
      old: old.result, new: new.result, modified: keys,
      reordered: Set(new.result.filter { old.place($0) != nil && old.place($0) != new.place($0) }))
    let fault = oracle.fault(in: step.changeSet())
    #expect(fault == nil, "seed \(old.random.seed): \(oracle.old) to \(oracle.new) by \(step.changeSet())")
    return 1
  }

  // MARK: - Single rules

  private func step(_ view: ResultView, _ changes: (key: Int64, old: UInt64?, new: UInt64?)...) throws -> ViewStep {
    try view.apply(
      changes.map { change in
        RowChange(
          key: change.key, old: change.old.map { OrderedRow(prefix: $0, key: change.key) },
          new: change.new.map { OrderedRow(prefix: $0, key: change.key) }, marks: RowMarks())
      })
  }

  private let view = ResultView.sorted((1...5).map { ViewEntry(prefix: $0 * 10, key: Int64($0)) })

  @Test func aRowThatComesAndGoesBetweenTwoDeliveriesIsNotReported() throws {
    var net = NetChanges(base: view.latest)
    net.add(try step(view, (9, nil, 25)))
    net.add(try step(view, (9, 25, nil)))
    #expect(net.isEmpty)
    #expect(try net.changeSet(to: view.latest).isEmpty)
  }

  @Test func aRowThatLeavesAndComesBackIsAModification() throws {
    var net = NetChanges(base: view.latest)
    net.add(try step(view, (3, 30, nil)))
    net.add(try step(view, (3, nil, 30)))
    #expect(try net.changeSet(to: view.latest) == ChangeSet(modifications: [2], modificationsInNew: [2]))
  }

  @Test func severalStepsAreOneChangeSet() throws {
    var net = NetChanges(base: view.latest)
    net.add(try step(view, (1, 10, 45)))
    net.add(try step(view, (2, 20, nil), (7, nil, 5)))
    net.add(try step(view, (1, 45, 60)))
    let set = try net.changeSet(to: view.latest)
    #expect(set == ChangeSet(deletions: [0, 1], insertions: [0, 4], moves: [.init(from: 0, to: 4)]))
    #expect(view.latest.allKeys == [7, 3, 4, 5, 1])
  }

  @Test func aSkippedStepWithNothingPendingOnlyMovesTheBase() throws {
    var net = NetChanges(base: view.latest)
    try net.skip(try step(view, (1, 10, 45)))
    #expect(net.isEmpty)
    net.add(try step(view, (2, 20, nil)))
    #expect(try net.changeSet(to: view.latest) == ChangeSet(deletions: [0]))
  }

  @Test func aSkippedStepIsLeftOutOfWhatIsPending() throws {
    var net = NetChanges(base: view.latest)
    net.add(try step(view, (5, 50, 5)))
    try net.skip(try step(view, (1, 10, nil), (8, nil, 35)))
    net.add(try step(view, (4, 40, nil)))
    // Known: 2 3 8 4 5; now: 5 2 3 8.
    let set = try net.changeSet(to: view.latest)
    #expect(set == ChangeSet(deletions: [3, 4], insertions: [0], moves: [.init(from: 4, to: 0)]))
  }

  @Test func aRowThatCameIsToldThoughASkippedStepTouchedIt() throws {
    var net = NetChanges(base: view.latest)
    net.add(try step(view, (9, nil, 25)))
    try net.skip(try step(view, (9, 25, 15), (4, 40, 40)))
    #expect(net.knownKeys(in: 0..<9) == [1, 2, 3, 4, 5])
    #expect(try net.changeSet(to: view.latest) == ChangeSet(insertions: [1]))
  }

  @Test func aRowThatWentIsToldThoughASkippedStepTouchedItOutside() throws {
    var net = NetChanges(base: view.latest)
    net.add(try step(view, (3, 30, nil)))
    try net.skip(try step(view, (3, nil, nil), (1, 10, 60)))
    #expect(net.knownKeys(in: 0..<9) == [2, 3, 4, 5, 1])
    #expect(try net.changeSet(to: view.latest) == ChangeSet(deletions: [1]))
  }

  @Test func aRowThatMovedIsToldThoughASkippedStepGaveItAnotherValue() throws {
    var net = NetChanges(base: view.latest)
    net.add(try step(view, (1, 10, 45)))
    try net.skip(try step(view, (1, 45, 45)))
    let set = try net.changeSet(to: view.latest)
    #expect(set == ChangeSet(deletions: [0], insertions: [3], moves: [.init(from: 0, to: 3)]))
  }

  /// However many commits a context sleeps through, what waits for it is bounded by the rows.
  @Test func manyUndeliveredStepsKeepNoMoreThanTheRowsTheyTouched() throws {
    var net = NetChanges(base: view.latest)
    var place: UInt64 = 10
    for next in UInt64(100)..<3_100 {
      net.add(try step(view, (1, place, next)))
      place = next
    }
    #expect(net.pendingRows == 1)
    #expect(view.keepsOnly([net.base]))
    #expect(try net.changeSet(to: view.latest).moves == [.init(from: 0, to: 4)])
  }
}
