import ChangeTracker
import StoreValues

/// The rows of a list that are shown: those that pass a filter, up to a limit, in sections.
///
/// Pure: knows rows only by their positions in the list, and asks for what it needs to know about a row.
struct SectionedRows {
  /// The questions about a row of the present list.
  struct Questions {
    var key: (Int) -> Value
    /// nil: every row is shown.
    var passes: ((Int) -> Bool)?
  }

  private var filtered: FilteredRows?
  private var window: RowWindow
  private(set) var sections: SectionTable
  private let neighbourhood: Neighbourhood

  /// - Parameter neighbours: offsets of the rows that the drawing of a row depends on.
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

  /// The number of rows without a limit.
  var total: Int { window.total }
  var limit: Int? { window.limit }

  /// The row of the list at a path; nil if there is none.
  func row(at path: RowPath) -> Int? { sections.row(at: path).map { listRow($0) } }

  /// The row of the list for a position among the rows shown.
  func listRow(_ shown: Int) -> Int { filtered.flatMap { $0.row(at: shown) } ?? shown }

  /// The path of a row of the list; nil if it is not shown.
  func path(of row: Int) -> RowPath? {
    guard let shown = filtered.map({ $0.position(of: row) }) ?? row, shown < window.count else { return nil }
    return sections.path(of: shown)
  }

  /// Updates the rows for changes of the list. O(changes · log rows), plus the cost of the questions.
  mutating func apply(_ changes: ChangeSet, _ questions: Questions) -> SectionedChanges {
    let passes = questions.passes
    return show(filtered?.apply(changes) { passes?($0) ?? true } ?? changes, questions)
  }

  /// Applies another filter to the same list and returns the changes. O(rows of the list).
  mutating func refilter(count: Int, _ questions: Questions) -> SectionedChanges {
    let passes = questions.passes
    var filter = filtered ?? FilteredRows(count: count) { _ in true }
    let changes = filter.refilter { passes?($0) ?? true }
    filtered = passes == nil ? nil : filter
    return show(changes, questions)
  }

  /// Applies another limit and returns the changes.
  mutating func resize(to limit: Int?, _ questions: Questions) -> SectionedChanges {
    apply(shown: window.resize(to: limit), questions)
  }

  private mutating func show(_ changes: ChangeSet, _ questions: Questions) -> SectionedChanges {
    apply(shown: window.apply(changes), questions)
  }

  private mutating func apply(shown changes: ChangeSet, _ questions: Questions) -> SectionedChanges {
    let filtered = filtered
    // Copied only if needed: a table with a second reference is copied when it changes.
    let before = neighbourhood.offsets.isEmpty ? nil : sections
    var changed = sections.apply(changes) { row in questions.key(filtered.map { $0.row(at: row) ?? 0 } ?? row) }
    if let before {
      changed.updates += neighbourhood.updates(changes, from: before, to: sections)
      changed.updates.sort { $0.from < $1.from }
    }
    return changed
  }
}
