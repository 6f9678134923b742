import ChangeTracker
import StorageInterface
import StoreValues

/// A way of keeping a result from commit to commit: row by row, as a window of rows that are kept so, or asked again and compared.
///
/// Made for a question at one version (`ResultUpkeep.make`), and taken to the next ones by `step`. Under the notifier's lock.
protocol ResultUpkeep: AnyObject {
  /// The type of the rows.
  var table: TableID { get }

  /// The result at the notifier's version. O(1).
  var current: ResultVersion { get }

  /// What keeps rows one by one, where something does: the whole result of a window.
  var rowUpkeep: ViewUpkeep? { get }

  /// How often the question was asked again after the first time.
  var evaluations: Int { get }

  /// Whether a commit may have touched the result or what observers look at. Reads nothing.
  func isAffected(by record: CommitRecord) -> Bool

  /// Reports changes of these properties from now on.
  func watch(_ properties: WatchedProperties)

  /// Follows what an observer looks at over links; returns the bits for its `ModificationFilter`. Idempotent.
  func follow(_ filter: ResultFilter) -> UInt64

  /// Takes the result to the version that `to` reads; nil when nothing touched it. One that throws is torn, and made anew.
  func step(_ records: [CommitRecord], from: any StorageReading, to: any StorageReading) throws(StorageError) -> ResultStep?

  /// What is pending for a token that is given the result now: nothing yet.
  func nothingPending() -> any PendingResult
}

extension ResultRecipe {
  /// Evaluates the question, and keeps its result as that kind of question allows. O(n), or O(n log n) for an order.
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
  func watch(_ properties: WatchedProperties) { watched = properties }

  func follow(_ filter: ResultFilter) -> UInt64 { filter.followed(by: follow(_:), others: follow(others:)) }

  func step(_ records: [CommitRecord], from: any StorageReading, to: any StorageReading) throws(StorageError) -> ResultStep? {
    try apply(records, from: from, to: to).map { .rows($0) }
  }

  func nothingPending() -> any PendingResult { NetResult(NetChanges(base: view.latest)) }
}

extension WindowUpkeep: ResultUpkeep {
  var table: TableID { whole.question.table }
  var current: ResultVersion { .rows(rows) }
  var rowUpkeep: ViewUpkeep? { whole }
  var evaluations: Int { 0 }
  func isAffected(by record: CommitRecord) -> Bool { whole.isAffected(by: record) }
  func watch(_ properties: WatchedProperties) { whole.watch(properties) }
  func follow(_ filter: ResultFilter) -> UInt64 { whole.follow(filter) }

  func step(_ records: [CommitRecord], from: any StorageReading, to: any StorageReading) throws(StorageError) -> ResultStep? {
    try apply(records, from: from, to: to).map { .window($0, window) }
  }

  func nothingPending() -> any PendingResult { WindowedResult(NetChanges(base: whole.view.latest), window) }
}

// MARK: - Asked again

extension ComparedUpkeep: ResultUpkeep {
  var table: TableID { question.table }
  var current: ResultVersion { .rows(rows) }
  var rowUpkeep: ViewUpkeep? { nil }
  func watch(_ properties: WatchedProperties) { watched = properties }

  func follow(_ filter: ResultFilter) -> UInt64 { filter.followed(by: follow(_:), others: follow(others:)) }

  func step(_ records: [CommitRecord], from: any StorageReading, to: any StorageReading) throws(StorageError) -> ResultStep? {
    try apply(records, from: from, to: to).map { .whole($0) }
  }

  func nothingPending() -> any PendingResult { ComparedChanges(base: rows) }
}

extension ResultFilter {
  /// The bits of its paths, each of which is followed by itself, and of the others, which share one.
  fileprivate func followed(by follow: (ReadPath) -> UInt64, others followOthers: ([ReadPath]) -> UInt64) -> UInt64 {
    let bits = paths.reduce(0) { $0 | follow($1) }
    return others.isEmpty ? bits : bits | followOthers(others)
  }
}
