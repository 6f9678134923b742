import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

@testable import Vivarium

/// Who may write next, decided without a lock, a thread or an engine.
@Suite struct WriterStateMachineTests {
  private static let casts: [[WorldActor]] = [
    [
      .init(.synchronous(isEndless: true), thread: 1), .init(.synchronous(isEndless: false), thread: 2), .init(.queued, thread: 9),
      .init(.foreign, thread: 8),
    ],
    [.init(.queued, thread: 9), .init(.queued, thread: 9), .init(.synchronous(isEndless: true), thread: 1), .init(.foreign, thread: 8)],
    [
      .init(.turning, thread: 1, context: 1), .init(.synchronous(isEndless: true), thread: 1, context: 1),
      .init(.queued, thread: 9),
    ],
    [
      .init(.turning, thread: 1, context: 1), .init(.synchronous(isEndless: false), thread: 1, context: 1),
      .init(.foreign, thread: 8),
    ],
    [
      .init(.turning, thread: 1, context: 1), .init(.turning, thread: 1, context: 1),
      .init(.synchronous(isEndless: false), thread: 1, context: 1),
    ],
    [
      .init(.synchronous(isEndless: true), thread: 1), .init(.synchronous(isEndless: true), thread: 1, host: 0),
      .init(.synchronous(isEndless: false), thread: 2), .init(.queued, thread: 9),
    ],
    [
      .init(.synchronous(isEndless: true, leavesOpen: true), thread: 1, context: 1),
      .init(.synchronous(isEndless: true), thread: 1, context: 1), .init(.turning, thread: 1, context: 1),
    ],
    [
      .init(.synchronous(isEndless: true, leavesOpen: true), thread: 1), .init(.synchronous(isEndless: true), thread: 1),
      .init(.queued, thread: 9),
    ],
  ]

  @Test(arguments: casts.indices) func inEveryOrderOfEventsEverybodyIsServedOnceAndLeavesNoTrace(cast: Int) throws {
    var known: Set<String> = []
    var left = [WriterWorld(Self.casts[cast])]
    while let world = left.popLast() {
      let events = world.events
      if events.isEmpty { try world.checkStuck() }
      for event in events {
        var next = world
        try next.happen(event)
        if known.insert(next.key).inserted { left.append(next) }
      }
    }
    #expect(known.count > 50)
  }

  @Test func soTheyAreInLongRandomOnes() throws {
    var random = SeededGenerator.forTest()
    for _ in 0..<400 {
      var world = WriterWorld(Self.crowd(&random))
      while let event = world.events.randomElement(using: &random) { try world.happen(event) }
      try world.checkStuck()
    }
  }

  private static func crowd(_ random: inout SeededGenerator) -> [WorldActor] {
    var actors: [WorldActor] = []
    for i in 0..<Int.random(in: 2...9, using: &random) {
      // A context is a thread of its own; threads without one have two stores.
      let place = Int.random(in: 0...5, using: &random)
      let context = place < 3 ? place : nil
      let isEndless = Bool.random(using: &random)
      switch Int.random(in: 0...6, using: &random) {
      case 0: actors.append(.init(.queued, thread: 9))
      case 1: actors.append(.init(.foreign, thread: 8))
      case 2, 3: actors.append(.init(.turning, thread: place % 3, context: place % 3))
      case 4: actors.append(.init(.synchronous(isEndless: isEndless, leavesOpen: true), thread: place, context: context))
      case 5 where i > 0:
        guard case .synchronous(_, leavesOpen: false) = actors[i - 1].role, actors[i - 1].host == nil else { fallthrough }
        actors.append(.init(.synchronous(isEndless: isEndless), thread: actors[i - 1].site.thread, host: i - 1))
      default: actors.append(.init(.synchronous(isEndless: isEndless), thread: place, context: context))
      }
    }
    return actors
  }
}

extension WriterStateMachineTests {
  private static let (here, elsewhere) = (TestSite(thread: 1), TestSite(thread: 2))

  /// A machine whose right is in a state, of store 1.
  private func machine(_ state: String) -> TestMachine {
    var machine = TestMachine()
    if state == "kept" { machine.keep(7, for: 1, at: Self.here) }
    if ["open", "ending"].contains(state) {
      machine.opened(1, at: Self.here)
      machine.beginBody(1, at: Self.here)
    }
    if state == "ending" { machine.willEnd(1) }
    return machine
  }

  private func name(_ machine: TestMachine) -> String {
    switch machine.holder {
    case .nobody: "nobody"
    case .kept(let owner, _, _): "kept \(owner)"
    case .open(let owner, _): "open \(owner)"
    case .ending(let owner, _): "ending \(owner)"
    }
  }

  /// The state, then what each event makes of it.
  @Test(arguments: [
    "nobody": ["kept 2", "open 2", "nobody", "nobody", "nobody", "nobody", "nobody", "nobody"],
    "kept": ["kept 2", "open 2", "nobody 7", "kept 1", "kept 1", "kept 1", "kept 1", "kept 1"],
    "open": ["kept 2", "open 2", "open 1", "open 1", "ending 1", "open 1", "nobody", "open 1"],
    "ending": ["kept 2", "open 2", "ending 1", "ending 1", "ending 1", "ending 1", "nobody", "ending 1"],
  ]) func aRightGoesOnAsTheTableSays(state: String, expected: [String]) {
    let events: [(inout TestMachine) -> Int?] = [
      { $0.keep(8, for: 2, at: Self.elsewhere); return nil }, { $0.opened(2, at: Self.elsewhere); return nil },
      { $0.takeBack(1) }, { $0.takeBack(2) }, { $0.willEnd(1); return nil }, { $0.willEnd(2); return nil },
      { $0.ended(1); return nil }, { $0.ended(2); return nil },
    ]
    let found = events.map { event in
      var machine = machine(state)
      let right = event(&machine)
      return name(machine) + (right.map { " \($0)" } ?? "")
    }
    #expect(found == expected)
  }

  /// The state, then the answers: to its own store, to another one on the thread without and with a deadline, and elsewhere.
  @Test(arguments: [
    "nobody": ["begin", "begin", "begin", "begin"],
    "kept": ["take(7)", "take(7)", "take(7)", "begin"],
    "open": ["refuse(openFurtherUp)", "refuse(openFurtherUp)", "refuse(openFurtherUp)", "begin"],
    "ending": ["refuse(waitsForItself)", "refuse(waitsForItself)", "begin", "begin"],
  ]) func whoAsksIsAnsweredAsTheTableSays(state: String, expected: [String]) {
    let asked: [(UInt64, TestSite, isEndless: Bool)] = [
      (1, Self.here, true), (2, Self.here, true), (2, Self.here, false), (2, Self.elsewhere, true),
    ]
    let found = asked.map { owner, site, isEndless in
      var machine = machine(state)
      return switch machine.ask(owner, at: site, .init(isEndless: isEndless, mayStand: true), 5) {
      case .take(let right): "take(\(right))"
      case .begin: "begin"
      case .refuse(.openFurtherUp): "refuse(openFurtherUp)"
      case .refuse(.waitsForItself): "refuse(waitsForItself)"
      case .await, .stand: "waits"
      }
    }
    #expect(found == expected)
  }

  @Test func whatIsFetchedForAStoreThatIsGoneIsReleasedUnlessSomebodyWaitsForIt() {
    let queue = TestSite(thread: 1, context: 1)
    var machine = TestMachine()
    machine.fetch(1, at: queue, 10)
    machine.fetch(2, at: queue, 20)
    #expect("\(machine.abandon(10))" == "none" && "\(machine.came(10, .success(7)))" == "release(7)")
    guard case .await(20) = machine.ask(3, at: queue, .init(), 30) else { Issue.record("not awaited"); return }
    #expect("\(machine.abandon(20))" == "none" && machine.isFetched(20))
    #expect("\(machine.came(20, .success(8)))" == "wake(20)" && "\(machine.gaveUp(20))" == "release(8)")
    #expect(machine.fetches.isEmpty && machine.take(20) == nil)
  }

  @Test func nobodyOvertakesInLineAndWhoLeavesLetsTheNextComeOrIsWoken() {
    var machine = TestMachine()
    #expect(machine.join(1) == 1 && machine.join(2) == nil)
    guard case .stand(3) = machine.ask(3, at: Self.here, .init(), 3) else { Issue.record("did not stand"); return }
    guard case .begin = machine.ask(4, at: Self.here, .init(mayStand: false), 4) else { Issue.record("the worker stood"); return }
    #expect(machine.leave(2) == 2 && machine.leave(2) == nil && machine.line == [1, 3])
    #expect(machine.leave(1) == 3 && machine.leave(3) == nil && machine.line.isEmpty)
  }
}
