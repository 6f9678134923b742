import ChangeTracker
import StoreValues
import Synchronization
import Testing

@testable import ResultsControl

private let isBefore: @Sendable (Value, Value) -> Bool = { $0.order(to: $1) == .before }

@Suite struct SectionTableTests {
  private func table(_ keys: [Int64], keep: [Int64] = []) -> SectionTable {
    SectionTable(count: keys.count, keep: keep.map { Value.int($0) }, precedes: isBefore) { .int(keys[$0]) }
  }

  @Test func bigSectionsAreFoundWithoutReadingTheirRows() {
    var reads = 0
    let table = SectionTable(count: 1_000_000, precedes: isBefore) { row in
      reads += 1
      return .int(Int64(row / 1_000))
    }
    #expect(table.count == 1_000 && reads < 25_000)
    #expect(table.path(of: 123_456) == RowPath(section: 123, row: 456))
    #expect(table.row(at: RowPath(section: 999, row: 999)) == 999_999)
    #expect(table.row(at: RowPath(section: 999, row: 1_000)) == nil && table.path(of: 1_000_000) == nil)
  }

  @Test func aChangeAsksOnlyForTheRowsThatChanged() {
    var rows = SectionedRows(count: 1_000_000, precedes: isBefore, .init(key: { .int(Int64($0 / 1_000)) }))
    var asked: [Int] = []
    let changes = rows.apply(
      ChangeSet(deletions: [10], insertions: [500_000], modifications: [700_000], modificationsInNew: [700_000]),
      .init(key: { row in
        asked.append(row)
        return .int(Int64(row / 1_000))
      }))
    #expect(asked.sorted() == [500_000, 700_000])
    #expect(changes.deletions == [RowPath(section: 0, row: 10)])
    // One row less before it: the new row is the last of the section that ends there.
    #expect(changes.insertions.map(\.section) == [500] && changes.updates.map(\.from) == [RowPath(section: 700, row: 0)])
  }

  @Test func neighboursAreDrawnAgainByWhatStandsBesideThem() {
    // Sections of three; each row shows something of the one above it.
    var rows = SectionedRows(count: 9, neighbours: [-1], precedes: isBefore, .init(key: { .int(Int64($0 / 3)) }))
    let changes = rows.apply(
      ChangeSet(deletions: [0], modifications: [3, 8], modificationsInNew: [2, 7]),
      .init(key: { .int(Int64(($0 + 1) / 3)) }))
    // The second row is the first now; below the modified first row of a section stands one, below the last row none.
    #expect(changes.deletions == [RowPath(section: 0, row: 0)])
    #expect(
      changes.updates.map(\.from) == [
        RowPath(section: 0, row: 1), RowPath(section: 1, row: 0), RowPath(section: 1, row: 1), RowPath(section: 2, row: 2),
      ])
  }

  @Test func aRowWhoseKeyChangesMovesThoughItKeepsItsPlace() {
    var table = table([1, 1, 3])
    let changes = table.apply(ChangeSet(modifications: [2], modificationsInNew: [2])) { _ in .int(2) }
    #expect(changes.deletedSections == [1] && changes.insertedSections == [1])
    #expect(changes.moves == [RowStep(from: RowPath(section: 1, row: 0), to: RowPath(section: 1, row: 0))])
    #expect(changes.updates.isEmpty && table.key(of: 1) == .int(2))
  }

  @Test func aRowThatComesBackToItsSectionIsInIt() {
    // There and back again: the row must not stay where it was in between.
    var table = table([1, 1, 2])
    let there = table.apply(ChangeSet(modifications: [1], modificationsInNew: [1])) { _ in .int(2) }
    #expect(there.moves == [RowStep(from: RowPath(section: 0, row: 1), to: RowPath(section: 1, row: 0))])
    let back = table.apply(ChangeSet(modifications: [1], modificationsInNew: [1])) { _ in .int(1) }
    #expect(back.moves == [RowStep(from: RowPath(section: 1, row: 0), to: RowPath(section: 0, row: 1))])
    #expect(table.rows(of: 0) == 0..<2 && table.rows(of: 1) == 2..<3)
  }

  @Test func aSectionThatLosesItsRowsAndGetsNewOnesStays() {
    var table = table([1, 2, 3])
    let changes = table.apply(ChangeSet(deletions: [1], insertions: [1])) { _ in .int(2) }
    #expect(changes.deletedSections.isEmpty && changes.insertedSections.isEmpty)
    #expect(changes.deletions == [RowPath(section: 1, row: 0)] && changes.insertions == [RowPath(section: 1, row: 0)])
  }

  @Test func staticSectionsStayEmptyAndInOrder() {
    var table = table([2, 2], keep: [1, 2, 3])
    #expect((0..<3).map { table.rowCount(of: $0) } == [0, 2, 0])
    let gone = table.apply(ChangeSet(deletions: [0, 1])) { _ in .null }
    #expect(gone.deletedSections.isEmpty && table.count == 3)
    let other = table.apply(ChangeSet(insertions: [0])) { _ in .int(4) }
    #expect(other.insertedSections == [3] && table.key(of: 3) == .int(4))
  }

  @Test func sectionsOfOneRowThatAreAllReplacedAreFoundWithoutWalkingAlongTheEmptyOnes() {
    // Every section is empty before the first row comes, and a walk along them for each row would be work squared.
    let count = 8_000
    let asked = Mutex(0)
    let precedes: @Sendable (Value, Value) -> Bool = { a, b in
      asked.withLock { $0 += 1 }
      return isBefore(a, b)
    }
    var table = SectionTable(count: count, precedes: precedes) { .int(Int64($0 * 2)) }
    let rows = Array(0..<count)
    let changes = table.apply(ChangeSet(deletions: rows, insertions: rows)) { .int(Int64($0 * 2 + 1)) }
    #expect(changes.deletedSections == rows && changes.insertedSections == rows && table.count == count)
    #expect((0..<count).allSatisfy { table.key(of: $0) == .int(Int64($0 * 2 + 1)) })
    #expect(asked.withLock { $0 } < count * 40)
  }

  @Test func sectionsThatStayAreFoundInWhateverOrderTheyWereDeclared() {
    var table = table([2], keep: [3, 1, 2])
    let changes = table.apply(ChangeSet(insertions: [0])) { _ in .int(1) }
    #expect(changes.insertedSections.isEmpty && table.count == 3 && table.rowCount(of: 1) == 1)
  }

  @Test func zeroesOfBothSignsAreOneSection() {
    let keys: [Value] = [.double(-0.0), .double(0.0), .double(1)]
    #expect(SectionTable(count: 3) { keys[$0] }.count == 2)
  }

  @Test func anOrderThatDoesNotFollowTheKeysTearsNoSection() {
    var table = SectionTable(count: 4) { _ in .int(1) }
    let changes = table.apply(ChangeSet(insertions: [2])) { _ in .int(9) }
    #expect(changes.insertedSections.isEmpty && table.count == 1 && changes.insertions == [RowPath(section: 0, row: 2)])
  }
}
