import ChangeTracker
import Vivarium

extension ResultsController {
  /// From what was reported last to what is reported next.
  struct Step {
    let before: State
    let after: State
    let changes: SectionedChanges
    /// Objects whose mapped rows are over: they went, moved, or have other values.
    var gone: [Int64] = []
    var stale: [Int64] = []
  }

  func take(_ step: ResultsStep<T>) {
    switch step {
    case .initial: break  // the rows were read by the fetch itself
    case .moved(let now): if !isCommitting { whenReady { [self] in move(to: now) } }
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

  /// A write of which this is not notified led to these rows: they are shown, and nobody hears of it. O(rows).
  private func move(to objects: FixedResults<T>) {
    mapped = [:]
    let state = arranged(objects, limit: shown?.rows.limit ?? initialLimit)
    (shown, latest) = (state, state)
  }

  /// Another filter. What comes and goes is reported like any change. O(rows of the request). Not inside an open write: the filter
  /// would see what may be undone.
  public func updateFilter(_ filter: ((T) -> Bool)?) {
    whenReady { [self] in
      self.filter = filter
      change { rows, objects in rows.refilter(count: objects.count, questions(ofAll: objects)) }
    }
  }

  /// Shows so many rows more; nil: all. What comes is reported like any change. Nothing without a limit.
  public func showMore(_ count: Int?) {
    whenReady { [self] in
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

  /// Calls `block` with each batch of changes, before the delegate hears of it: for those who apply it whole. It stays as
  /// long as the controller.
  public func onChange(_ block: @escaping (ResultsController<T, U>, SectionedChanges) -> Void) { feeds.append(block) }
}

// MARK: - Writes of the interface

extension ResultsController {
  /// Writes what the interface shows already, as a row that a person has dragged: nobody is notified of it here, and the
  /// controller shows the new rows when this returns. What others wrote before is reported first, and what they write
  /// later leads on from there.
  ///
  /// ```swift
  /// table.moveRow(at: from, to: to)
  /// try controller.writeWithoutTelling { store in task.place = newPlace }
  /// ```
  ///
  /// Costs a first fetch. When `body` throws, all of it is undone and nothing changes here. Not inside an open write
  /// (`.alreadyInWrite`), and not while the delegate hears of a batch (`.writeInBatch`): its rows would change under it.
  ///
  /// - Parameter others: more observations that are not notified.
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
    // The beginning of a write brings what came before. It is reported now, whether its rows are mapped or not.
    isHurried = true
    defer { isHurried = false }
    while isPreparing { showPrepared() }
    store.refresh()
    try store.beginWrite(fileID: fileID, line: line)
    let result: R
    do {
      result = try body(store)
      isCommitting = true
      defer { isCommitting = false }
      if store.isInWriteTransaction { try store.commitWrite(withoutNotifying: others + [token]) }
    } catch {
      store.cancelWrite()
      throw error
    }
    let state = arranged(request.execute().fixed, limit: shown?.rows.limit ?? initialLimit)
    mapped = [:]
    (shown, latest) = (state, state)
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
  /// Shows a step, now, or when the rows that come with it are mapped.
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

  /// Forgets what waits for rows: nothing more is reported.
  func halt() {
    isPreparing = false
    prepared = nil
    preparation += 1
    waiting = []
    latest = shown
  }

  /// Waits for rows that are mapped elsewhere; gives the number of the wait.
  func prepare(_ step: Step?) -> Int {
    isPreparing = true
    prepared = step
    preparation += 1
    return preparation
  }

  /// Goes on with what was asked for while rows were mapped elsewhere.
  func proceed() {
    isPreparing = false
    prepared = nil
    while !isPreparing, !waiting.isEmpty { waiting.removeFirst()() }
    if !isPreparing { resume() }
  }

  private func whenReady(_ action: @escaping () -> Void) {
    if isPreparing || isTelling { waiting.append(action) } else { action() }
  }

  private func show(_ step: Step, _ fresh: [Int64: U]) {
    var gone: [Int64: U] = [:]
    // What a row was is reported where it leaves, though it changed as well.
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

  /// Whether a step can be taken now. A delegate that writes must not be notified of another one inside the batch it hears of.
  func takesSteps() -> Bool {
    if isHurried { return true }
    if isTelling { isBehind = true }
    return !isPreparing && !isTelling
  }

  /// Goes on with what came while a batch was reported.
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
