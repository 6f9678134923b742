import ChangeTracker
import StoreValues
import Testing
import VivariumTestSupport

@testable import ResultsControl

/// A row of the model: its order is (section, rank, id).
private struct Row: Hashable {
  var id: Int64
  var section: Int
  var rank: Int
  var passes = true
  var edits = 0

  var isShown: Bool { passes }
  static func isBefore(_ a: Row, _ b: Row) -> Bool { (a.section, a.rank, a.id) < (b.section, b.rank, b.id) }
}

/// What the sections are when nothing is clever.
private struct Naive {
  var rows: [Row]
  var filters: Bool
  var limit: Int?
  var keep: [Int]

  var shown: [Row] {
    let passing = filters ? rows.filter(\.passes) : rows
    return limit.map { Array(passing.prefix($0)) } ?? passing
  }

  /// Sections by their keys.
  var sections: [(key: Int, rows: [Row])] {
    var result: [(key: Int, rows: [Row])] = []
    for row in shown {
      if result.last?.key == row.section { result[result.count - 1].rows.append(row) } else { result.append((row.section, [row])) }
    }
    for key in keep where !result.contains(where: { $0.key == key }) { result.append((key, [])) }
    return result.sorted { $0.key < $1.key }
  }
}

@Suite struct SectioningModelTests {
  private struct Setting {
    var filters = false
    var limit: Int?
    var keep: [Int] = []
    var followsOrder = true
    var neighbours: Set<Int> = []
  }

  @Test func replayingGivesTheNewSections() { play(Setting()) }
  @Test func replayingGivesTheNewSectionsWithClosures() { play(Setting(followsOrder: false)) }
  @Test func replayingGivesTheNewSectionsBehindAFilter() { play(Setting(filters: true)) }
  @Test func replayingGivesTheNewSectionsInAWindow() { play(Setting(limit: 12)) }
  @Test func replayingGivesTheNewSectionsWithStaticOnes() { play(Setting(keep: [1, 3, 6])) }
  @Test func rowsAreDrawnAgainWhenTheirNeighboursChange() { play(Setting(neighbours: [-1])) }
  @Test func rowsAreDrawnAgainWhenTheirFarNeighboursChange() { play(Setting(filters: true, limit: 15, neighbours: [-2, 1])) }
  @Test func replayingGivesTheNewSectionsWithEverything() {
    play(Setting(filters: true, limit: 9, keep: [0, 2], neighbours: [-1, 2]))
  }

  private func play(_ setting: Setting, _ name: String = #function) {
    var random = SeededGenerator.forTest(name)
    for _ in 0..<environmentNumber("VIVARIUM_SECTION_HISTORIES", default: 25) {
      var history = History(setting, &random)
      for _ in 0..<40 {
        let fault = history.step(&random)
        #expect(fault == nil, "\(fault ?? "")")
        if fault != nil { return }
      }
    }
  }

  private struct History {
    var naive: Naive
    var sections: SectionedRows
    var nextID: Int64 = 1
    let neighbours: Set<Int>
    /// Rows that the last batch named as modified.
    var modified: Set<Int64> = []

    init(_ setting: Setting, _ random: inout SeededGenerator) {
      var rows: [Row] = []
      for _ in 0..<random.below(40) {
        rows.append(History.row(nextID, &random))
        nextID += 1
      }
      rows.sort(by: Row.isBefore)
      naive = Naive(rows: rows, filters: setting.filters, limit: setting.limit, keep: setting.keep)
      neighbours = setting.neighbours
      let isBefore: @Sendable (Value, Value) -> Bool = { $0.order(to: $1) == Value.Order.before }
      let keep = setting.keep.map { Value.int(Int64($0)) }
      sections = SectionedRows(
        count: rows.count, limit: setting.limit, keep: keep, neighbours: neighbours,
        precedes: setting.followsOrder ? isBefore : nil, History.questions(naive))
    }

    static func row(_ id: Int64, _ random: inout SeededGenerator) -> Row {
      Row(id: id, section: random.below(7), rank: random.below(10), passes: !random.oneIn(3))
    }

    static func questions(_ naive: Naive) -> SectionedRows.Questions {
      let rows = naive.rows
      let passes: (Int) -> Bool = { rows[$0].passes }
      return SectionedRows.Questions(
        key: { Value.int(Int64(rows[$0].section)) }, passes: naive.filters ? passes : nil)
    }

    /// One batch of changes; says what is wrong.
    mutating func step(_ random: inout SeededGenerator) -> String? {
      let old = naive
      let changes: SectionedChanges
      modified = []
      switch random.below(12) {
      case 0 where naive.limit != nil:
        naive.limit = random.below(20)
        changes = sections.resize(to: naive.limit, History.questions(naive))
      case 1 where naive.filters:
        for i in naive.rows.indices { naive.rows[i].passes = !random.oneIn(3) }
        changes = sections.refilter(count: naive.rows.count, History.questions(naive))
      default:
        modified = edit(&random)
        let flat = ChangeSet.between(old.rows.map(\.id), naive.rows.map(\.id), modified: modified)
        changes = sections.apply(flat, History.questions(naive))
      }
      return fault(old, changes)
    }

    private mutating func edit(_ random: inout SeededGenerator) -> Set<Int64> {
      var modified: Set<Int64> = []
      for _ in 0...random.below(6) {
        let place = random.below(max(naive.rows.count, 1))
        switch random.below(6) {
        case 0, 1:
          naive.rows.append(History.row(nextID, &random))
          nextID += 1
        case 2 where !naive.rows.isEmpty: naive.rows.remove(at: place)
        case 3 where !naive.rows.isEmpty:
          // A whole section under another name: rows keep their places in the list.
          let (from, to) = (naive.rows[place].section, random.below(7))
          for i in naive.rows.indices where naive.rows[i].section == from {
            naive.rows[i].section = to
            modified.insert(naive.rows[i].id)
          }
        case 4 where !naive.rows.isEmpty:
          naive.rows[place].passes.toggle()
          naive.rows[place].edits += 1
          modified.insert(naive.rows[place].id)
        case 5 where !naive.rows.isEmpty:
          let id = naive.rows[place].id
          naive.rows[place] = History.row(id, &random)
          modified.insert(id)
        default: break
        }
      }
      naive.rows.sort(by: Row.isBefore)
      return modified
    }

    private func fault(_ old: Naive, _ changes: SectionedChanges) -> String? {
      let (before, after) = (old.sections, naive.sections)
      let keys = (0..<sections.sections.count).map { sections.sections.key(of: $0) }
      let wanted = after.map { Value.int(Int64($0.key)) }
      if keys != wanted { return "sections are \(keys), not \(after.map(\.key))" }
      for (i, section) in after.enumerated() {
        if sections.sections.rowCount(of: i) != section.rows.count { return "section \(i) has the wrong count" }
        for (j, row) in section.rows.enumerated() {
          let path = RowPath(section: i, row: j)
          guard let place = sections.row(at: path), naive.rows[place] == row else { return "\(path) is another row" }
          if sections.path(of: place) != path { return "\(path) is not found again" }
        }
      }
      guard let replayed = changes.replay(before.map(\.rows), into: after.map(\.rows)) else {
        return "the changes do not fit: \(changes)"
      }
      if replayed.map({ $0.map(\.id) }) != after.map({ $0.rows.map(\.id) }) {
        return "replaying gives other rows: \(changes)\n\(before)\n\(after)"
      }
      let pairs = zip(replayed.joined(), after.map(\.rows).joined())
      let same = pairs.allSatisfy { a, b in (a.section, a.rank, a.edits) == (b.section, b.rank, b.edits) }
      if !same { return "a changed row is not reported: \(changes)" }
      for move in changes.moves
      where before[move.from.section].rows[move.from.row].id != after[move.to.section].rows[move.to.row].id {
        return "\(move) is not one row"
      }
      return neighbourFault(before, after, changes)
    }

    /// Rows that stayed are told exactly when they were modified themselves, or one beside them is another one or was.
    private func neighbourFault(
      _ before: [(key: Int, rows: [Row])], _ after: [(key: Int, rows: [Row])], _ changes: SectionedChanges
    ) -> String? {
      func neighbours(_ sections: [(key: Int, rows: [Row])]) -> [Int64: [Int64?]] {
        var result: [Int64: [Int64?]] = [:]
        for section in sections {
          for (place, row) in section.rows.enumerated() {
            result[row.id] = self.neighbours.sorted().map { offset in
              section.rows.indices.contains(place + offset) ? section.rows[place + offset].id : nil
            }
          }
        }
        return result
      }
      let (old, new) = (neighbours(before), neighbours(after))
      let came = Set((changes.insertions + changes.moves.map(\.to)).map { after[$0.section].rows[$0.row].id })
      let told = Set(changes.updates.map { after[$0.to.section].rows[$0.to.row].id })
      if told.count != changes.updates.count { return "a row is told twice: \(changes)" }
      for (id, beside) in new where !came.contains(id) {
        let must = modified.contains(id) || beside != old[id] || beside.contains { $0.map(modified.contains) ?? false }
        // One that moved and stands beside it again may be told too.
        let may = must || beside.contains { $0.map(came.contains) ?? false }
        if must, !told.contains(id) { return "row \(id) is not drawn again: \(changes)" }
        if !may, told.contains(id) { return "row \(id) is drawn again for nothing: \(changes)" }
      }
      return nil
    }
  }
}
