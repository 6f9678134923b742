import struct Foundation.Date
import Testing
import VivariumTestSupport

import SyncModel

/// Everything three replicas can do at the same time with a small object, at all orders of their clocks, arriving in all orders:
/// always one state, and the one that `Replay` says.
@Suite struct EnumerationTests {
  /// All of it takes seconds when built optimised and minutes when not, so a debug build tests every so many-th case.
  static func stride(_ inDebug: Int) -> Int {
    #if DEBUG
      return max(environmentNumber("VIVARIUM_SYNC_STRIDE", default: inDebug), 1)
    #else
      return max(environmentNumber("VIVARIUM_SYNC_STRIDE", default: 1), 1)
    #endif
  }

  @Test func `all that three replicas can do to a list comes to one list`() {
    let base = ListPrograms()
    var outcomes = Enumeration(stride: EnumerationTests.stride(23))
    for clock in [10, 11, 12].permutations {
      let programs = (0..<3).map { base.programs(Stamp(milliseconds: UInt64(clock[$0]), counter: 0, replica: ReplicaID(UInt64($0 + 1)))) }
      #expect(programs[0].count == 17)
      outcomes.run(base.state, base.history, programs) { names, shown in ListPrograms.faults(names, clock, shown) }
    }
    outcomes.report("lists: 17^3 triples x 6 clock orders x 6 orders of arrival", full: 176_868)
  }

  @Test func `all kinds of changes by three replicas come to one state`() {
    let base = MixedPrograms()
    var outcomes = Enumeration(stride: EnumerationTests.stride(127))
    for clock in [10, 11, 12].permutations {
      let programs = (0..<3).map { base.programs(UInt64(clock[$0]), ReplicaID(UInt64($0 + 1))) }
      #expect(programs[0].count == 31)
      outcomes.run(base.state, base.history, programs) { names, shown in MixedPrograms.faults(names, clock, shown) }
    }
    outcomes.report("all kinds: 31^3 triples x 6 clock orders x 6 orders of arrival", full: 1_072_476)
  }

  @Test func `changes inside embedded objects of elements and entries come to one state`() {
    let base = SlotPrograms()
    var outcomes = Enumeration(stride: EnumerationTests.stride(29))
    for clock in [10, 11, 12].permutations {
      let programs = (0..<3).map { base.programs(UInt64(clock[$0]), ReplicaID(UInt64($0 + 1))) }
      outcomes.run(base.state, base.history, programs) { _, _ in 0 }
    }
    let count = SlotPrograms.count
    outcomes.report("slots: \(count)^3 triples x 6 clock orders x 6 orders of arrival", full: count * count * count * 36)
  }
}

/// Runs triples of programs and counts.
struct Enumeration {
  let stride: Int
  private var triples = 0
  private(set) var merges = 0
  private var divergent = 0
  private var wrong = 0
  private var faults = 0
  private var examples: [String] = []
  private let started = Date()

  init(stride: Int) { self.stride = stride }

  typealias Program = (name: String, operations: [Stamped])

  mutating func run(
    _ base: MemoryState, _ history: [Stamped], _ programs: [[Program]],
    faults check: ([String], [ObjectIdentity: Shown]) -> Int
  ) {
    let orders = [0, 1, 2].permutations
    for a in programs[0] {
      for b in programs[1] {
        for c in programs[2] {
          triples += 1
          if triples % stride != 0 { continue }
          let triple = [a, b, c]
          var first: MemoryState?
          for (index, order) in orders.enumerated() {
            var operations = order.flatMap { triple[$0].operations }
            // The last order is against causality, operation by operation, and then everything comes once more.
            if index == orders.count - 1 { operations = operations.reversed() + operations }
            var state = base
            state.merge(operations)
            merges += 1
            if first == nil { first = state }
            if state != first {
              divergent += 1
              note("diverged", triple)
            }
          }
          guard let first else { continue }
          let shown = ShownReader(state: first).all()
          if shown != Replay.shown(history + triple.flatMap(\.operations)) {
            wrong += 1
            note("not as the replay: \(shown)", triple)
          }
          let found = check(triple.map(\.name), shown)
          faults += found
          if found > 0 { note("against a rule: \(shown)", triple) }
        }
      }
    }
  }

  private mutating func note(_ what: String, _ triple: [Program]) {
    if examples.count < 3 { examples.append("\(triple.map(\.name)): \(what)") }
  }

  func report(_ title: String, full: Int) {
    let part = stride == 1
      ? "the whole"
      : "a part, every \(stride)th triple; all \(full) when built with -c release, or with VIVARIUM_SYNC_STRIDE=1"
    print(
      "\(title): \(merges) merges (\(part)), \(divergent) divergent, \(wrong) not as the replay, \(faults) against a rule,",
      "\(Int(Date().timeIntervalSince(started) * 10)) tenths of a second")
    #expect(divergent + wrong + faults == 0, "\(examples)")
    #expect(stride > 1 || merges == full)
    #expect(merges > 0)
  }
}
