import ChangeTracker
import StoreValues

/// The rows of a list that are shown: those that pass a filter, of these the first so many, and these in sections.
///
/// Pure: it knows rows of the list by their places, and asks for what it has to know of a row.
struct SectionedRows {
  /// What is asked of a row of the list as it is now.
  struct Questions {
    var key: (Int) -> Value
    /// nil: every row is shown.
    var passes: ((Int) -> Bool)?
  }

  private var filtered: FilteredRows?
  private var window: RowWindow
  private(set) var sections: SectionTable
  private let neighbourhood: Neighbourhood

  /// - Parameter neighbours: offsets of rows that the drawing of a row depends on.
  init(
    count: Int, limit: Int? = nil, keep: [Value] = [], neighbours: Set<Int> = [],
    precedes: (@Sendable (Value, Value) -> Bool)? = nil, _ questions: Questions
  ) {
    neighbourhood = Neighbourhood(neighbours)
    filtered = questions.passes.map { FilteredRows(count: count, passes: $0) }
    window = RowWindow(limit: limit, total: filtered?.count ?? count)
    let filtered = filtered
    sections = SectionTable(count: window.count, keep: keep, precedes: precedes) { row in
      questions.key(filtered.map { $0.row(at: row) ?? 0 } ?? row)
    }
  }

  /// How many rows would be shown without a limit.
  var total: Int { window.total }
  var limit: Int? { window.limit }

  /// The row of the list at a path; nil when there is none.
  func row(at path: RowPath) -> Int? { sections.row(at: path).map { listRow($0) } }

  /// The row of the list that is the n-th of those that are shown.
  func listRow(_ shown: Int) -> Int { filtered.flatMap { $0.row(at: shown) } ?? shown }

  /// The path of a row of the list; nil when it is not shown.
  func path(of row: Int) -> RowPath? {
    guard let shown = filtered.map({ $0.position(of: row) }) ?? row, shown < window.count else { return nil }
    return sections.path(of: shown)
  }

  /// Takes the rows to the next state of the list. O(changes · log rows), beside what the questions cost.
  mutating func apply(_ changes: ChangeSet, _ questions: Questions) -> SectionedChanges {
    let passes = questions.passes
    return show(filtered?.apply(changes) { passes?($0) ?? true } ?? changes, questions)
  }

  /// Another filter over the same list: what comes and what goes. O(rows of the list).
  mutating func refilter(count: Int, _ questions: Questions) -> SectionedChanges {
    let passes = questions.passes
    var filter = filtered ?? FilteredRows(count: count) { _ in true }
    let changes = filter.refilter { passes?($0) ?? true }
    filtered = passes == nil ? nil : filter
    return show(changes, questions)
  }

  /// Another limit: what comes and what goes.
  mutating func resize(to limit: Int?, _ questions: Questions) -> SectionedChanges {
    apply(shown: window.resize(to: limit), questions)
  }

  private mutating func show(_ changes: ChangeSet, _ questions: Questions) -> SectionedChanges {
    apply(shown: window.apply(changes), questions)
  }

  private mutating func apply(shown changes: ChangeSet, _ questions: Questions) -> SectionedChanges {
    let filtered = filtered
    // Kept only where it is needed: a table that somebody else holds is copied when it changes.
    let before = neighbourhood.offsets.isEmpty ? nil : sections
    var changed = sections.apply(changes) { row in questions.key(filtered.map { $0.row(at: row) ?? 0 } ?? row) }
    if let before {
      changed.updates += neighbourhood.updates(changes, from: before, to: sections)
      changed.updates.sort { $0.from < $1.from }
    }
    return changed
  }
}
