import ChangeTracker
import Vivarium

extension ResultsController {
  /// Reads the rows on this thread, and observes changes from then on. A second call does nothing.
  public func performFetch(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    guard let state = begin(isolation, fileID, line) else { return }
    shown = state
  }

  /// Reads the rows like `performFetch`, but maps them elsewhere first if the controller does that: it shows nothing before this
  /// returns.
  public func fetch(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line
  ) async {
    guard let state = begin(isolation, fileID, line) else { return }
    guard let many = mapping.many else {
      shown = state
      return
    }
    let number = prepare(nil)
    let rows = (0..<state.rows.sections.rowCount).map { state.rows.listRow($0) }
    let frozen = rows.map { state.objects.frozen(at: $0) }
    await withCheckedContinuation(isolation: isolation) { (continuation: CheckedContinuation<Void, Never>) in
      many(frozen, request.store) { [self] made in
        defer { continuation.resume() }
        guard preparation == number else { return }
        for (row, value) in zip(rows, made) { mapped[state.objects.key(at: row)] = value }
        shown = state
        proceed()
      }
    }
  }

  /// Stops observing. The rows shown stay, even if rows of a change are being mapped elsewhere.
  public func stop() {
    token?.stop()
    if token != nil { halt() }
  }

  /// Begins to observe; nil if it already does.
  private func begin(_ isolation: isolated (any Actor)?, _ fileID: StaticString, _ line: UInt) -> State? {
    guard token == nil else { return nil }
    let tracking = ResultsTracking(
      request.execute(), also: reading + (sectioning?.read ?? []), isolation: isolation, fileID: fileID, line: line,
      wants: { [weak self] in self?.takesSteps() ?? false }
    ) { [weak self] step in
      self?.take(step)
    }
    token = tracking.token
    resume = tracking.resume
    let state = arranged(tracking.start, limit: initialLimit)
    latest = state
    return state
  }

  /// The rows of objects that are not arranged yet. Reads few section keys if sections follow a path.
  func arranged(_ objects: FixedResults<T>, limit: Int?) -> State {
    State(
      objects: objects,
      rows: SectionedRows(
        count: objects.count, limit: limit, keep: sectioning?.kept ?? (sectioning == nil ? [.null] : []),
        neighbours: neighbours, precedes: precedes, questions(ofAll: objects)))
  }

  private var precedes: (@Sendable (Value, Value) -> Bool)? {
    guard let sectioning, sectioning.compute == nil, let first = request.sort.first else { return nil }
    let wanted: Value.Order = first.ascending ? .before : .after
    return { $0.order(to: $1) == wanted }
  }

  /// The questions about the rows of these objects.
  func questions(_ objects: FixedResults<T>) -> SectionedRows.Questions {
    let filter = filter
    return SectionedRows.Questions(
      key: sectionKey(objects), passes: filter.map { filter in { filter(objects[$0]) } })
  }

  /// The questions, for the case that every row is asked. Evaluates the filter at once, object by object in key order: in the order
  /// of the results each object would be read separately.
  func questions(ofAll objects: FixedResults<T>) -> SectionedRows.Questions {
    var questions = questions(objects)
    if let filter {
      var flags = [Bool](repeating: false, count: objects.count)
      objects.forEachByKey { object, row in flags[row] = filter(object) }
      questions.passes = { [flags] row in flags[row] }
    }
    return questions
  }

  private func sectionKey(_ objects: FixedResults<T>) -> (Int) -> Value {
    guard let sectioning else { return { _ in .null } }
    if let compute = sectioning.compute { return { compute(objects[$0]) } }
    let path = sectioning.inputs.first ?? PropertyPath([])
    return { objects.value(at: path, row: $0) }
  }
}
