import Notifications

extension FilteredResults: StoreObservable {
  /// The test is asked on the observer's context: of all objects before the first call, and then of those that came or were modified; a
  /// row that passes no longer is a deletion, one that passes now an insertion. Where none of the rows that pass is touched,
  /// there is no call. `details` of these changes is nil. What the test reads counts, whatever else the options name.
  ///
  /// What a turn costs beside the tests is a pass over one byte for each object of the results that are tested.
  public var _$source: ObservationSource<CollectionChange<FilteredResults<Element>>> {
    let source: ObservationSource<CollectionChange<Results<Element>>> = base._$source
    // What is kept of these must not keep the store.
    let (reading, passes) = (reading, passes)
    return ObservationSource(store, check: source.check) { [base] request, block in
      let (answers, remade) = (FilterAnswers(), base.state.remaking)
      // The rows that the answers are of; without their store, which would keep itself.
      var known: KeySnapshot?
      return base.store.observe(base.state, also: reading, request) { move, store in
        let now = Results<Element>(remade(store))
        switch move {
        case .here:
          known = now.state.keys()
          answers.set(now.map { passes($0) ? 1 : 0 }, at: store.tick)
        case .rows(let keys):
          // Of rows that were reported the answer is known; one that the commit brought passed as it does now.
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

/// What a change of rows is to those of them that pass a test.
struct FilterStep {
  /// 1 for each row that passes.
  private(set) var passing: [UInt8]
  private(set) var deletions: [Int] = []
  private(set) var insertions: [Int] = []
  private(set) var modifications = ChangedRows(old: [], new: [])

  init(_ passing: [UInt8]) { self.passing = passing }

  var isEmpty: Bool { deletions.isEmpty && insertions.isEmpty && modifications.isEmpty }

  /// Takes a change of all rows. `passes` is asked of rows that came or were modified, by their new positions.
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

  /// The marks without those of rows that went, and with none for rows that came.
  private static func moved(_ old: [UInt8], _ deleted: [Int], _ inserted: [Int]) -> [UInt8] {
    if deleted.isEmpty, inserted.isEmpty { return old }
    var new: [UInt8] = []
    new.reserveCapacity(old.count - deleted.count + inserted.count)
    var next = 0
    var coming = inserted[...]
    func fill() { while coming.first == new.count, coming.popFirst() != nil { new.append(0) } }
    // Runs between the rows that go, cut where rows come.
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

  /// How many rows that pass are before each of some rows, which ascend. One pass.
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
