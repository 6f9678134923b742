import QueryModel
import StorageInterface
import StoreValues

/// One execution of a plan in one transaction. Lives as long as the call that made it.
struct Run {
  let plan: Plan
  let storage: any StorageReading
  let query: Query
  var statistics = QueryStatistics()

  init(_ plan: Plan, _ storage: any StorageReading, _ query: Query) {
    self.plan = plan
    self.storage = storage
    self.query = query
  }

  /// Where the keys come from.
  enum Source {
    case nothing
    case scan
    case index(IndexAccess, estimate: Int)
    /// The counts are the entries of each word.
    case words(TextAccess, [Int], any TextIndexReading)
    case engine(any QueryPushdown, PushedQuery)
  }

  /// The cost of reading the row of an index entry, in rows of a scan.
  static let rowFactor = 24
  /// The cost of taking a key from an index without reading its row.
  static let keyFactor = 4

  mutating func source() throws(StorageError) -> Source {
    if case .constant(false) = plan.condition { return .nothing }
    if let engine = storage.powers.pushdown, let pushed = try engine.pushdown(query) {
      return .engine(engine, pushed)
    }
    if let words = try words() { return words }
    guard !plan.accesses.isEmpty else { return .scan }
    let rows = try storage.count(plan.table.id)
    var best: (access: IndexAccess, estimate: Int)?
    for access in plan.accesses {
      let estimate = try entries(access)
      if estimate < best?.estimate ?? .max { best = (access, estimate) }
      // Few enough: further estimates would cost more than they save.
      if estimate <= 64 { break }
    }
    guard let best else { return .scan }
    var factor = Run.keyFactor
    if case .constant(true) = best.access.residual {} else { factor = Run.rowFactor }
    if !plan.order.isEmpty { factor = Run.rowFactor }
    return best.estimate * factor <= rows || rows < 64 ? .index(best.access, estimate: best.estimate) : .scan
  }

  /// The access by the words of texts, unless an index of values finds fewer objects. Never worse than a scan, which splits
  /// every text into words.
  private mutating func words() throws(StorageError) -> Source? {
    guard !plan.texts.isEmpty, let storage = storage.powers.texts else { return nil }
    var best: (access: TextAccess, counts: [Int], estimate: Int)?
    for access in plan.texts {
      let counts = try entries(access, storage)
      let estimate = counts.min() ?? 0
      if estimate < best?.estimate ?? .max { best = (access, counts, estimate) }
    }
    guard let best else { return nil }
    for access in plan.accesses where best.estimate > 64 {
      let estimate = try entries(access)
      if estimate < best.estimate / 4 { return .index(access, estimate: estimate) }
    }
    return .words(best.access, best.counts, storage)
  }

  private mutating func entries(_ access: IndexAccess) throws(StorageError) -> Int {
    var total = 0
    for range in access.ranges { total += try storage.count(in: access.index.id, range) }
    statistics.runsCounted += access.ranges.count
    return total
  }

  mutating func count() throws(StorageError) -> Int {
    switch plan.condition {
    case .constant(true): return try storage.count(plan.table.id)
    case .constant(false): return 0
    default: break
    }
    for access in plan.accesses {
      // Nothing is left to test: the index has the count.
      if case .constant(true) = access.residual { return try entries(access) }
    }
    switch try source() {
    case .nothing: return 0
    case .engine(let engine, let pushed):
      // A pushed limit never makes the count too small, because the caller applies the limit as well.
      if case .constant(true) = pushed.residual { return try engine.count(pushed) }
      return try filtered(pushedKeys(engine, pushed), try bind(pushed.residual)).count
    case .index(let access, _): return try filtered(keys(of: access), access.residual).count
    case .words(let access, let counts, let storage):
      // Each entry of a single word is one object.
      if counts.count == 1, !access.terms[0].isPrefix, case .constant(true) = access.residual { return counts[0] }
      let (keys, residual) = try keys(of: access, counts, storage)
      return try filtered(keys, residual).count
    case .scan:
      if let bounds = plan.bounds { return try countedScan(bounds) }
      var total = 0
      try scan(Array(plan.columns.prefix(plan.conditionColumns))) { batch, mask, _ in
        total += Masks.count(mask, batch.words)
        return .proceed
      }
      return total
    }
  }

  mutating func keys(limit: Int?) throws(StorageError) -> [Int64] {
    if limit == 0 { return [] }
    switch try source() {
    case .nothing: return []
    case .engine(let engine, let pushed):
      var keys = try pushedKeys(engine, pushed, limit: limit)
      if case .constant(true) = pushed.residual {} else { keys = try filtered(keys, try bind(pushed.residual)) }
      if plan.order.isEmpty || pushed.ordersResult { return limit.map { Array(keys.prefix($0)) } ?? keys }
      return try ordered(keys, limit: limit)
    case .index(let access, _):
      let keys = try filtered(keys(of: access), access.residual, limit: plan.order.isEmpty ? limit : nil)
      return plan.order.isEmpty ? keys : try ordered(keys, limit: limit)
    case .words(let access, let counts, let storage):
      let (found, residual) = try self.keys(of: access, counts, storage)
      let keys = try filtered(found, residual, limit: plan.order.isEmpty ? limit : nil)
      return plan.order.isEmpty ? keys : try ordered(keys, limit: limit)
    case .scan: return plan.order.isEmpty ? try scannedKeys(limit) : try orderedScan(limit)
    }
  }

  mutating func explain() throws(StorageError) -> QueryExplanation {
    let columns = plan.columns.compactMap { plan.table[$0]?.schema.name }
    var result = QueryExplanation(
      access: .scan, estimatedRows: 0, testsEachRow: true, columns: columns, sorts: !plan.order.isEmpty, limit: plan.limit)
    switch try source() {
    case .nothing:
      result.access = .nothing
      result.testsEachRow = false
    case .scan:
      result.estimatedRows = try storage.count(plan.table.id)
      if case .constant = plan.condition { result.testsEachRow = false }
      for access in plan.accesses { result.passedOver.append(try way(access)) }
    case .index(let access, let estimate):
      result.access = .index(properties: names(of: access), runs: access.ranges.count)
      result.estimatedRows = estimate
      for other in plan.accesses where other.index.id != access.index.id { result.passedOver.append(try way(other)) }
      if case .constant = access.residual { result.testsEachRow = false }
    case .words(let access, let counts, _):
      result.access = .index(
        properties: [plan.table[access.index.property]?.schema.name ?? ""], runs: access.terms.count)
      result.estimatedRows = counts.min() ?? 0
      if case .constant = access.residual { result.testsEachRow = false }
    case .engine(let engine, let pushed):
      result.access = .engine(statement: pushed.statement)
      result.estimatedRows = try engine.count(pushed)
      if case .constant = pushed.residual { result.testsEachRow = false }
      if pushed.ordersResult { result.sorts = false }
    }
    return result
  }

  private func names(of access: IndexAccess) -> [String] {
    access.index.properties.compactMap { plan.table[$0]?.schema.name }
  }

  private mutating func way(_ access: IndexAccess) throws(StorageError) -> QueryExplanation.IndexWay {
    QueryExplanation.IndexWay(properties: names(of: access), rows: try entries(access))
  }
}
