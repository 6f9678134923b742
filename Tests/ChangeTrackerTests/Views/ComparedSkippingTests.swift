import ChangeTracker
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

/// Steps of a compared result of which an observer is not told, while others wait to be told.
@Suite struct ComparedSkippingTests {
  private func step(_ old: [Int64], _ new: [Int64], touching keys: [Int64] = []) -> ComparedStep {
    ComparedStep(old: old, new: new, marks: Dictionary(uniqueKeysWithValues: keys.map { ($0, RowMarks()) }))
  }

  /// What is known of `base` once the first step waits to be told, and the second is known.
  private func known(
    _ base: [Int64], waiting waits: [Int64], setting keys: [Int64] = [], skipping new: [Int64],
    touching skipped: [Int64] = []
  ) -> (rows: [Int64], told: ChangeSet) {
    var changes = ComparedChanges(base: base)
    changes.add(step(base, waits, touching: keys))
    changes.skip(step(waits, new, touching: skipped))
    return (changes.base, changes.changeSet(to: new))
  }

  @Test func marksOfWhatIsNoRowDoNotPileUp() {
    var changes = ComparedChanges(base: [1, 2])
    changes.add(step([1, 2], [2, 1], touching: [1]))
    for key in Int64(10)..<10_010 {
      changes.add(step([2, 1], [2, 1], touching: [key]))
      #expect(changes.markCount <= 100)
    }
    // Rows that the tokens know keep theirs, whatever came after.
    let told = changes.changeSet(to: [2, 1])
    #expect(told.modifications.isEmpty == false || told.moves.isEmpty == false)
    var waits = ComparedChanges(base: [1, 2])
    waits.add(step([1, 2], [1, 2], touching: [2]))
    for key in Int64(10)..<1_010 { waits.add(step([1, 2], [1, 2], touching: [key])) }
    #expect(waits.changeSet(to: [1, 2]) == ChangeSet(modifications: [1], modificationsInNew: [1]))
  }

  @Test func aRowThatASkippedStepMovedIsKnownInItsNewPlace() {
    // 9 waits at the front; 1 is known to go to the end.
    let (rows, told) = known([1, 2, 3], waiting: [9, 1, 2, 3], skipping: [9, 2, 3, 1], touching: [1])
    #expect(rows == [2, 3, 1])
    #expect(told == ChangeSet(insertions: [0]))
  }

  @Test func aRowThatASkippedStepBroughtStandsWhereItStandsAmongThoseThatAreKnown() {
    // 9 and 8 wait; what comes behind 9 is not known to be at the front.
    let (rows, told) = known([1, 2], waiting: [1, 9, 2, 8], skipping: [1, 9, 7, 2, 8, 6])
    #expect(rows == [1, 7, 2, 6])
    #expect(told == ChangeSet(insertions: [1, 4]))
  }

  @Test func whatWaitsToBeToldIsToldThoughASkippedStepTouchedIt() {
    #expect(known([1, 2], waiting: [9, 1, 2], skipping: [1, 2, 9], touching: [9]).rows == [1, 2])
    #expect(known([1, 2], waiting: [9, 1, 2], skipping: [1, 2, 9], touching: [9]).told == ChangeSet(insertions: [2]))
    #expect(known([1, 2], waiting: [9, 1, 2], skipping: [1, 2]).told.isEmpty)
    #expect(known([1, 2, 3], waiting: [1, 3], skipping: [3, 1], touching: [1]).rows == [2, 3, 1])
    let (rows, told) = known([1, 2, 3], waiting: [1, 2, 3], setting: [2], skipping: [1, 2, 3], touching: [2])
    #expect(rows == [1, 2, 3] && told.isEmpty)
  }

  @Test func aRowThatWentAndThatASkippedStepBroughtBackIsKnownOnce() {
    let (rows, told) = known([1, 2, 3], waiting: [2, 3], skipping: [2, 3, 1])
    #expect(rows == [2, 3, 1] && told.isEmpty)
  }

  @Test func objectsThatHaveSeveralRowsAreKnownAsOftenAsTheyAreThere() {
    // Of 1, which is here twice, one more waits at the front, and the last is known to be gone.
    let (base, waits) = (RowIdentity.rows(of: [1, 2, 1]), RowIdentity.rows(of: [3, 1, 2, 1]))
    let (rows, told) = known(base, waiting: waits, skipping: RowIdentity.rows(of: [3, 1, 2]))
    #expect(rows.map { RowIdentity.key(of: $0) } == [1, 2])
    #expect(told == ChangeSet(insertions: [0]))
  }

  /// Any of the steps may wait or be known.
  @Test func randomStepsAreKnownExactlyAroundThoseThatWait() {
    var random = SeededGenerator.forTest()
    for _ in 0..<3_000 {
      var now = Array(1...1 + Int64(random.below(9)))
      var changes = ComparedChanges(base: now)
      var waiting: Set<Int64> = []
      var next: Int64 = 100
      for _ in 0..<1 + random.below(6) {
        let old = now
        let row: Int64
        switch random.below(now.isEmpty ? 1 : 3) {
        case 0:
          (row, next) = (next, next + 1)
          now.insert(row, at: random.below(now.count + 1))
        case 1: row = now.remove(at: random.below(now.count))
        default:
          row = now.remove(at: random.below(now.count))
          now.insert(row, at: random.below(now.count + 1))
        }
        let step = step(old, now, touching: [row])
        if random.oneIn(2) {
          let before = changes.base
          changes.skip(step)
          check(changes.base, before, step, waiting)
        } else {
          changes.add(step)
          waiting.insert(row)
        }
        #expect(changes.changeSet(to: now).replay(changes.base, into: now) == now)
      }
    }
  }

  /// What is known after a skipped step: the same rows less those that went and with those that came. Those that do not wait
  /// stand as they stand now, and those that the step did not touch as they stood.
  private func check(_ rows: [Int64], _ before: [Int64], _ step: ComparedStep, _ waiting: Set<Int64>) {
    let (gone, came) = (Set(step.old).subtracting(step.new), Set(step.new).subtracting(step.old))
    #expect(Set(rows) == Set(before).subtracting(gone).union(came) && rows.count == Set(rows).count)
    #expect(rows.filter { !waiting.contains($0) } == step.new.filter { !waiting.contains($0) })
    #expect(rows.filter { step.marks[$0] == nil } == before.filter { step.marks[$0] == nil })
  }
}
