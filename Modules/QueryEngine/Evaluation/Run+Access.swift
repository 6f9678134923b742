import QueryModel
import StorageInterface
import StoreValues

extension Run {
  /// The keys of the index runs, in ascending order.
  mutating func keys(of access: IndexAccess) throws(StorageError) -> [Int64] {
    var keys: [Int64] = []
    for range in access.ranges {
      try storage.keys(in: access.index.id, range, descending: false) { block in
        keys.append(contentsOf: block)
        return .proceed
      }
    }
    statistics.entriesRead += keys.count
    if !access.isAscending { keys.sort() }
    return keys
  }

  /// Those of `keys` whose objects pass, read one by one.
  mutating func filtered(
    _ keys: [Int64], _ condition: Condition, limit: Int? = nil
  ) throws(StorageError) -> [Int64] {
    if case .constant(true) = condition { return limit.map { Array(keys.prefix($0)) } ?? keys }
    if limit == nil, let passed = try gathered(keys, condition) {
      statistics.rowsRead += keys.count
      return passed
    }
    let evaluator = Evaluator(storage: storage)
    var result: [Int64] = []
    for key in keys {
      statistics.rowsRead += 1
      if try evaluator.matches(condition, ObjectKey(key)) {
        result.append(key)
        if result.count == limit { break }
      }
    }
    return result
  }

  mutating func pushedKeys(
    _ engine: any QueryPushdown, _ pushed: PushedQuery, limit: Int? = nil
  ) throws(StorageError) -> [Int64] {
    var keys: [Int64] = []
    var stopAt = Int.max
    if case .constant(true) = pushed.residual, plan.order.isEmpty || pushed.ordersResult { stopAt = limit ?? .max }
    try engine.keys(pushed) { block in
      keys.append(contentsOf: block)
      return keys.count >= stopAt ? .stop : .proceed
    }
    statistics.entriesRead += keys.count
    return keys
  }

  /// Binds the condition that an engine left over. It is part of the query, which was bound before.
  func bind(_ residual: PredicateNode) throws(StorageError) -> Condition {
    do throws(QueryError) {
      var binder = try Binder(query.type, in: plan.catalog)
      return try binder.bind(residual).simplified()
    } catch {
      throw StorageError(.misuse, .statement, "The engine left over a condition that is no part of the query: \(error.message)")
    }
  }

  /// Scans the table in batches, with the rows that pass. `slot` is a column whose values the body reads, even if the condition
  /// needs only its nulls.
  mutating func scan(
    _ columns: [PropertyID], valuesOf slot: Int? = nil, _ body: (BatchView, Mask, Scratch) throws(StorageError) -> Step
  ) throws(StorageError) {
    let evaluator = Evaluator(storage: storage)
    let scratch = Scratch(depth: plan.depth)
    let condition = plan.condition
    var statistics = QueryStatistics()
    var failure: StorageError?
    let hints = slot == nil ? plan.hints : plan.hints.filter { $0.interest != .nulls || $0.column != slot }
    try storage.scan(plan.table.id, columns, from: ObjectKey(1), hints: hints) { batch in
      statistics.batches += 1
      statistics.rowsScanned += batch.count
      scratch.reserve(batch.count)
      let view = BatchView(batch)
      let (live, mask) = (scratch.mask(0), scratch.mask(1))
      if let holes = view.live {
        Masks.copy(holes, to: live, view.words)
        Masks.trim(live, rows: view.count)
      } else {
        Masks.fill(live, rows: view.count)
      }
      do throws(StorageError) {
        try evaluator.evaluate(
          condition, view, among: live, into: mask, scratch, level: 2, reads: &statistics.rowsRead)
        return try body(view, mask, scratch)
      } catch {
        failure = error
        return .stop
      }
    }
    self.statistics.add(statistics)
    if let failure { throw failure }
  }

  /// The keys that pass, in ascending order.
  mutating func scannedKeys(_ limit: Int?) throws(StorageError) -> [Int64] {
    var keys: [Int64] = []
    if case .constant(true) = plan.condition {
      // A small limit does not need the table's count.
      if let limit, limit <= 64 {
        keys.reserveCapacity(limit)
      } else {
        keys.reserveCapacity(min(limit ?? .max, try storage.count(plan.table.id)))
      }
    }
    let columns = Array(plan.columns.prefix(plan.conditionColumns))
    try scan(columns) { batch, mask, _ in
      for word in 0..<batch.words {
        if mask[word] == ~0, batch.keys == nil {
          let first = batch.key(word &* 64)
          keys.append(contentsOf: first..<first &+ 64)
        } else {
          Masks.forEach(mask + word, 1) { row in keys.append(batch.key(word &* 64 &+ row)) }
        }
      }
      return keys.count >= limit ?? .max ? .stop : .proceed
    }
    if let limit, keys.count > limit { keys.removeLast(keys.count - limit) }
    return keys
  }

  /// Sorts keys, given in ascending order, into the query's order.
  mutating func ordered(_ keys: [Int64], limit: Int?) throws(StorageError) -> [Int64] {
    let sorter = Sorter(plan.order, limit: limit, expected: keys.count)
    let evaluator = Evaluator(storage: storage)
    statistics.rowsRead += keys.count
    try sorter.append(keys, evaluator)
    return finish(sorter)
  }

  /// Scans and sorts.
  mutating func orderedScan(_ limit: Int?) throws(StorageError) -> [Int64] {
    let evaluator = Evaluator(storage: storage)
    var expected: Int?
    if case .constant(true) = plan.condition { expected = try storage.count(plan.table.id) }
    let sorter = Sorter(plan.order, limit: limit, expected: expected)
    try scan(plan.columns) { (batch, mask, scratch) throws(StorageError) in
      try sorter.append(batch, mask, scratch, evaluator)
      return .proceed
    }
    return finish(sorter)
  }

  private mutating func finish(_ sorter: Sorter) -> [Int64] {
    defer { statistics.rowsHeld = max(statistics.rowsHeld, sorter.rowsHeld) }
    return sorter.finish()
  }
}
