import ChangeTracker
import StorageInterface
import StoreValues

/// A way of keeping a result from commit to commit: row by row, as a window of rows kept that way, or by evaluating again and
/// comparing.
///
/// Made for a question at one version (`ResultRecipe.upkeep`), and advanced by `step`. Confined to its result: nobody else's while that is
/// being made, and then used under the notifier's lock alone.
protocol ResultUpkeep: AnyObject {
  /// The type of the rows.
  var table: TableID { get }

  /// The result at the notifier's version. O(1).
  var current: ResultVersion { get }

  /// The row-by-row upkeep, if there is one: for a window, of the whole result.
  var rowUpkeep: ViewUpkeep? { get }

  /// The number of evaluations after the first.
  var evaluations: Int { get }

  /// The question, if it is asked again as a whole.
  var wholeQuestion: ComparedQuestion? { get }

  /// Whether a commit may have touched the result or anything that observers follow. Reads nothing.
  func isAffected(by record: CommitRecord) -> Bool

  /// Reports changes of these properties from now on.
  func watch(_ properties: WatchedProperties)

  /// Follows an observer's paths; returns the bits for its `ModificationFilter`. Idempotent.
  func follow(_ filter: ResultFilter) -> UInt64

  /// Advances the result to the version that `to` reads; nil if nothing touched it. If it throws, the result is torn and must
  /// be rebuilt. `asked` are the rows in that version, identified as by `RowIdentity`, if the whole question was asked before.
  func step(
    _ records: [CommitRecord], from: any StorageReading, to: any StorageReading, asked: [Int64]?
  ) throws(StorageError) -> ResultStep?

  /// The pending changes of a token that is given the result now: none.
  func nothingPending() -> any PendingResult
}

extension ResultRecipe {
  /// Evaluates the question, and keeps its result as its kind allows. O(n), or O(n log n) for an order.
  func upkeep(in reading: any StorageReading) throws(StorageError) -> any ResultUpkeep {
    switch try question(reading) {
    case .rows(let question): try ViewUpkeep(question, keys: try keys(reading), in: reading)
    case .window(let question, let window, let keys): try WindowUpkeep(question, window, keys: try keys(reading), in: reading)
    case .whole(let question): ComparedUpkeep(question, keys: try keys(reading))
    }
  }
}

// MARK: - Row by row

extension ViewUpkeep: ResultUpkeep {
  var table: TableID { question.table }
  var current: ResultVersion { .view(view.latest) }
  var rowUpkeep: ViewUpkeep? { self }
  var evaluations: Int { 0 }
  var wholeQuestion: ComparedQuestion? { nil }
  func watch(_ properties: WatchedProperties) { watched = properties }

  func follow(_ filter: ResultFilter) -> UInt64 { filter.followed(by: follow(_:), others: follow(others:)) }

  func step(
    _ records: [CommitRecord], from: any StorageReading, to: any StorageReading, asked: [Int64]?
  ) throws(StorageError) -> ResultStep? {
    try apply(records, from: from, to: to).map { .rows($0) }
  }

  func nothingPending() -> any PendingResult { NetResult(NetChanges(base: view.latest)) }
}

extension WindowUpkeep: ResultUpkeep {
  var table: TableID { whole.question.table }
  var current: ResultVersion { .rows(rows) }
  var rowUpkeep: ViewUpkeep? { whole }
  var evaluations: Int { 0 }
  var wholeQuestion: ComparedQuestion? { nil }
  func isAffected(by record: CommitRecord) -> Bool { whole.isAffected(by: record) }
  func watch(_ properties: WatchedProperties) { whole.watch(properties) }
  func follow(_ filter: ResultFilter) -> UInt64 { whole.follow(filter) }

  func step(
    _ records: [CommitRecord], from: any StorageReading, to: any StorageReading, asked: [Int64]?
  ) throws(StorageError) -> ResultStep? {
    try apply(records, from: from, to: to).map { .window($0, window) }
  }

  func nothingPending() -> any PendingResult { WindowedResult(NetChanges(base: whole.view.latest), window) }
}

// MARK: - Asked again

extension ComparedUpkeep: ResultUpkeep {
  var table: TableID { question.table }
  var current: ResultVersion { .rows(rows) }
  var rowUpkeep: ViewUpkeep? { nil }
  var wholeQuestion: ComparedQuestion? { question }
  func watch(_ properties: WatchedProperties) { watched = properties }

  func follow(_ filter: ResultFilter) -> UInt64 { filter.followed(by: follow(_:), others: follow(others:)) }

  func step(
    _ records: [CommitRecord], from: any StorageReading, to: any StorageReading, asked: [Int64]?
  ) throws(StorageError) -> ResultStep? {
    try apply(records, from: from, to: to, asked: asked).map { .whole($0) }
  }

  func nothingPending() -> any PendingResult { ComparedChanges(base: rows) }
}

extension ResultFilter {
  /// The bits of its paths, each followed by itself, and of the others, which share one.
  fileprivate func followed(by follow: (ReadPath) -> UInt64, others followOthers: ([ReadPath]) -> UInt64) -> UInt64 {
    let bits = paths.reduce(0) { $0 | follow($1) }
    return others.isEmpty ? bits : bits | followOthers(others)
  }
}
