import Notifications

extension FilteredResults: StoreObservable {
  /// Observes the rows that pass the test. The test runs on the observer's context: for all objects before the first call, then for
  /// inserted and modified ones. A row that no longer passes is a deletion, one that now passes an insertion. If a change touches
  /// no passing row, there is no call. The changes have no `details`. The properties that the test reads count, whatever the
  /// options name.
  ///
  /// Besides the tests, a turn costs one pass over one byte for each object of the tested results.
  public var _$source: ObservationSource<CollectionChange<FilteredResults<Element>>> {
    let source: ObservationSource<CollectionChange<Results<Element>>> = base._$source
    // Copies, because the stored closures must not retain the store.
    let (reading, passes) = (reading, passes)
    return ObservationSource(store, check: source.check) { [base] request, block in
      let (answers, remade) = (FilterAnswers(), base.state.remaking)
      // The rows that `answers` belong to, without their store, which would otherwise retain itself.
      var known: KeySnapshot?
      return base.store.observe(base.state, also: reading, request) { move, store in
        let now = Results<Element>(remade(store))
        switch move {
        case .here:
          known = now.state.keys()
          answers.set(now.map { passes($0) ? 1 : 0 }, at: store.tick)
        case .rows(let keys):
          // The answers for reported rows are known. A row that the commit inserted gets its present answer.
          let answered = answers.answers(of: known?.array ?? [])
          answers.set(keys.map { key in answered[key] ?? (passes(store.live(key)) ? 1 : 0) }, at: store.tick)
        }
      } _: { (change: CollectionChange<Results<Element>>) in
        switch change {
        case .error(let error): block(.error(error))
        case .initial(let base):
          known = base.state.keys()
          answers.set(base.map { passes($0) ? 1 : 0 }, at: base.store.tick)
          block(.initial(FilteredResults(base, reading, answers: answers, passes)))
        case .update(let base, let deletions, let insertions, let modifications):
          var step = FilterStep(answers.passing)
          step.take(deletions, insertions, modifications) { passes(base[$0]) }
          known = base.state.keys()
          answers.set(step.passing, at: base.store.tick)
          if step.isEmpty { return }
          block(
            .update(
              FilteredResults(base, reading, answers: answers, passes), deletions: step.deletions, insertions: step.insertions,
              modifications: step.modifications))
        }
      }
    } reference: { [base] in
      let (description, fault) = (base.state.description, base.error)
      return { store in
        let base = Results<Element>(ResultsState(description, of: Element.self, in: store, fault: fault))
        return FilteredResults(base, reading, passes)._$source
      }
    }
  }
}

/// Translates a change of all rows to a change of the rows that pass a test.
struct FilterStep {
  /// 1 for each row that passes.
  private(set) var passing: [UInt8]
  private(set) var deletions: [Int] = []
  private(set) var insertions: [Int] = []
  private(set) var modifications = ChangedRows(old: [], new: [])

  init(_ passing: [UInt8]) { self.passing = passing }

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

  /// Applies a change of all rows. Calls `passes` with the new positions of the inserted and modified rows.
  mutating func take(
    _ deleted: [Int], _ inserted: [Int], _ modified: ChangedRows, _ passes: (Int) -> Bool
  ) {
    let old = passing
    passing = FilterStep.moved(old, deleted, inserted)
    var gone = deleted.filter { old[$0] != 0 }
    var came: [Int] = []
    var stayed: [(old: Int, new: Int)] = []
    for row in inserted where passes(row) {
      passing[row] = 1
      came.append(row)
    }
    for (from, to) in zip(modified.old, modified.new) {
      let (did, does) = (old[from] != 0, passes(to))
      passing[to] = does ? 1 : 0
      switch (did, does) {
      case (true, true): stayed.append((from, to))
      case (true, false): gone.append(from)
      case (false, true): came.append(to)
      case (false, false): break
      }
    }
    deletions = FilterStep.ranks(of: gone.sorted(), in: old)
    insertions = FilterStep.ranks(of: came.sorted(), in: passing)
    modifications = ChangedRows(
      old: FilterStep.ranks(of: stayed.map(\.old), in: old), new: FilterStep.ranks(of: stayed.map(\.new), in: passing))
  }

  /// The old marks without those of the deleted rows, and 0 for the inserted rows.
  private static func moved(_ old: [UInt8], _ deleted: [Int], _ inserted: [Int]) -> [UInt8] {
    if deleted.isEmpty, inserted.isEmpty { return old }
    var new: [UInt8] = []
    new.reserveCapacity(old.count - deleted.count + inserted.count)
    var next = 0
    var coming = inserted[...]
    func fill() { while coming.first == new.count, coming.popFirst() != nil { new.append(0) } }
    // Copies the runs between deleted rows, split where rows are inserted.
    for end in deleted + [old.count] {
      fill()
      while next < end {
        let room = coming.first.map { $0 - new.count } ?? .max
        let run = old[next..<Swift.min(end, next + Swift.min(room, old.count))]
        new.append(contentsOf: run)
        next += run.count
        fill()
      }
      next = end + 1
    }
    return new
  }

  /// For each of the ascending `rows`, the number of passing rows before it. One pass.
  private static func ranks(of rows: [Int], in passing: [UInt8]) -> [Int] {
    var (count, next) = (0, 0)
    return passing.withUnsafeBufferPointer { passing in
      rows.map { row in
        for i in next..<Swift.max(next, row) { count &+= Int(passing[i]) }
        next = Swift.max(next, row)
        return count
      }
    }
  }
}
