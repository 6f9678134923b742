import ChangeTracker
import Vivarium

extension ResultsController {
  /// From the state reported last to the one reported next.
  struct Step {
    let before: State
    let after: State
    let changes: SectionedChanges
    /// Objects whose mapped rows are outdated: deleted, moved, or changed.
    var gone: [Int64] = []
    var stale: [Int64] = []
  }

  func take(_ step: ResultsStep<T>) {
    switch step {
    case .initial: break  // the rows were read by the fetch itself
    case .moved(let now): whenReady { [self] in move(to: now) }
    case .error(let error):
      halt()
      delegate?.resultsFailed(error, controller: self)
    case .update(let now, let changes, _):
      guard let before = latest else { return }
      var after = State(objects: now, rows: before.rows)
      let changed = after.rows.apply(changes, questions(now))
      go(
        Step(
          before: before, after: after, changes: changed, gone: changes.deletions.map { before.objects.key(at: $0) },
          stale: changes.modificationsInNew.map { now.key(at: $0) }))
    }
  }

  /// That of the rows shown, which may be none.
  private var limitNow: Int? { shown.map(\.rows.limit) ?? initialLimit }

  /// Shows the rows that result from a write of which this controller is not notified, without reporting them. O(rows).
  private func move(to objects: FixedResults<T>) {
    mapped = [:]
    let state = arranged(objects, limit: limitNow)
    (shown, latest) = (state, state)
    hasMoved = true
  }

  /// Replaces the filter. Rows that appear or disappear are reported like any change, and what was committed before is reported first.
  /// O(rows of the request). Not inside an open write, whose changes may still be undone.
  public func updateFilter(_ filter: ((T) -> Bool)?) {
    whenCurrent { [self] in
      self.filter = filter
      change { rows, objects in rows.refilter(count: objects.count, questions(ofAll: objects)) }
    }
  }

  /// Shows `count` more rows; nil: all. New rows are reported like any change, and what was committed before is reported first. Does
  /// nothing without a limit.
  public func showMore(_ count: Int?) {
    whenCurrent { [self] in
      change { rows, objects in
        guard let limit = rows.limit else { return SectionedChanges() }
        let (wanted, isTooMany) = limit.addingReportingOverflow(count ?? 0)
        return rows.resize(to: count == nil || isTooMany ? nil : wanted, questions(objects))
      }
    }
  }

  private func change(_ body: (inout SectionedRows, FixedResults<T>) -> SectionedChanges) {
    guard let before = latest, token?.isActive == true else { return }
    var after = before
    let changed = body(&after.rows, before.objects)
    go(Step(before: before, after: after, changes: changed))
  }

  /// Calls `block` with each batch of changes, before the delegate: for code that applies whole batches. It stays as long as the
  /// controller.
  public func onChange(_ block: @escaping (ResultsController<T, U>, SectionedChanges) -> Void) { feeds.append(block) }
}

// MARK: - Writes of the interface

extension ResultsController {
  /// Writes what the interface already shows, such as a row that a person has dragged. This controller reports nothing, and shows
  /// the new rows when this returns. Earlier changes by others are reported first; later ones are relative to the new rows.
  ///
  /// ```swift
  /// table.moveRow(at: from, to: to)
  /// try controller.writeWithoutTelling { store in task.place = newPlace }
  /// ```
  ///
  /// Costs as much as a first fetch. If `body` throws, its changes are undone and the controller stays unchanged. Not inside an
  /// open write (`.alreadyInWrite`), and not while a batch is being reported (`.writeInBatch`): the rows would change under the
  /// delegate.
  ///
  /// - Parameter others: further observations that are not notified.
  @discardableResult
  public func writeWithoutTelling<R>(
    others: [NotificationToken] = [], fileID: StaticString = #fileID, line: UInt = #line, _ body: (Store) throws -> R
  ) throws -> R {
    let store = request.store
    if isTelling {
      throw StoreError(
        .writeInBatch, "A results controller cannot show another state while its delegate hears of a batch.",
        remedy: "Write with 'store.write', whose changes are told after the batch.")
    }
    guard let token, token.isActive else {
      return try store.write(withoutNotifying: others, fileID: fileID, line: line) { try body(store) }
    }
    // Beginning a write delivers earlier changes. They are reported now, whether their rows are mapped or not.
    isHurried = true
    defer { isHurried = false }
    while isPreparing { showPrepared() }
    store.refresh()
    try store.beginWrite(fileID: fileID, line: line)
    let result: R
    do {
      result = try body(store)
      hasMoved = false
      if store.isInWriteTransaction { try store.commitWrite(withoutNotifying: others + [token]) }
    } catch {
      store.cancelWrite()
      throw error
    }
    // The commit does it, if this controller is not behind.
    if !hasMoved { move(to: request.execute().fixed) }
    return result
  }

  private func showPrepared() {
    if let step = prepared { show(step, [:]) } else { shown = latest }
    preparation += 1
    proceed()
  }
}

// MARK: - Steps

extension ResultsController {
  /// Shows a step, at once or when its new rows are mapped.
  private func go(_ step: Step) {
    latest = step.after
    let changed = step.changes
    let paths = changed.insertions + changed.moves.map(\.to) + changed.updates.map(\.to)
    guard let many = mapping.many, !paths.isEmpty, !isHurried else { return show(step, [:]) }
    let rows = paths.compactMap { step.after.rows.row(at: $0) }
    let objects = step.after.objects
    let number = prepare(step)
    many(rows.map { objects.frozen(at: $0) }, request.store) { [weak self] made in
      guard let self, preparation == number else { return }
      var fresh: [Int64: U] = [:]
      for (row, value) in zip(rows, made) { fresh[objects.key(at: row)] = value }
      show(step, fresh)
      proceed()
    }
  }

  /// Drops everything that waits for rows: nothing more is reported.
  func halt() {
    isPreparing = false
    prepared = nil
    preparation += 1
    waiting = []
    latest = shown
  }

  /// Begins to wait for rows that are mapped elsewhere; returns the number of the wait.
  func prepare(_ step: Step?) -> Int {
    isPreparing = true
    prepared = step
    preparation += 1
    return preparation
  }

  /// Continues with the requests made while rows were mapped elsewhere.
  func proceed() {
    isPreparing = false
    prepared = nil
    while !isPreparing, !waiting.isEmpty { waiting.removeFirst()() }
    if !isPreparing { resume() }
  }

  private func whenReady(_ action: @escaping () -> Void) {
    if isPreparing || isTelling { waiting.append(action) } else { action() }
  }

  /// Runs `action` when the rows known here are those of the version that the store reads: it asks about rows, and the store answers.
  private func whenCurrent(_ action: @escaping () -> Void) {
    whenReady { [self] in
      if token?.isActive == true, request.store.configuration.autorefresh { request.store.refresh() }
      // The rows of what came may have to be mapped first.
      if isPreparing || isTelling { waiting.insert(action, at: 0) } else { action() }
    }
  }

  private func show(_ step: Step, _ fresh: [Int64: U]) {
    var gone: [Int64: U] = [:]
    // A row that left is reported with its old value, even if it also changed.
    for key in step.gone + step.stale { gone[key] = mapped.removeValue(forKey: key) }
    mapped.merge(fresh) { $1 }
    shown = step.after
    if step.changes.isEmpty { return }
    let wasTelling = isTelling
    isTelling = true
    tell(step, gone)
    isTelling = wasTelling
    if !isTelling { catchUp() }
  }

  /// Whether a step can be taken now. A delegate that writes must not be notified of another step inside the batch being reported.
  func takesSteps() -> Bool {
    if isTelling {
      isBehind = true
      return false
    }
    return isHurried || !isPreparing
  }

  /// Continues with what arrived while a batch was reported.
  private func catchUp() {
    while !isPreparing, !waiting.isEmpty { waiting.removeFirst()() }
    guard isBehind, !isPreparing else { return }
    isBehind = false
    resume()
  }

  private func tell(_ step: Step, _ gone: [Int64: U]) {
    let changes = step.changes
    for feed in feeds { feed(self, changes) }
    guard let delegate else { return }
    delegate.willChangeResults(self)
    for index in changes.deletedSections.reversed() {
      let section = ResultsSection<U>(key: step.before.rows.sections.key(of: index), count: 0) { [self] in object(atRow: $0) }
      delegate.didChangeSection(section, controller: self, index: index, changeType: .delete)
    }
    for index in changes.insertedSections {
      delegate.didChangeSection(section(index), controller: self, index: index, changeType: .insert)
    }
    for path in changes.deletions.reversed() {
      let key = step.before.rows.row(at: path).map { step.before.objects.key(at: $0) }
      delegate.didChangeObject(
        key.flatMap { gone[$0] ?? mapped[$0] }, controller: self, oldPath: path, newPath: path, changeType: .delete)
    }
    for path in changes.insertions {
      delegate.didChangeObject(object(at: path), controller: self, oldPath: path, newPath: path, changeType: .insert)
    }
    for move in changes.moves {
      delegate.didChangeObject(object(at: move.to), controller: self, oldPath: move.from, newPath: move.to, changeType: .move)
    }
    for update in changes.updates {
      delegate.didChangeObject(
        object(at: update.to), controller: self, oldPath: update.from, newPath: update.to, changeType: .update)
    }
    delegate.didChangeResults(self)
  }
}
