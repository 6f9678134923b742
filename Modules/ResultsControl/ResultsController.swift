import ChangeTracker
import Vivarium

/// Shows the objects of a request in sections, and reports exactly what changes: the model of a table view, independent of one.
///
/// ```swift
/// let controller = try ResultsController(
///   request: ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.projectID), SortKey(\TaskItem.name)]),
///   sectionedBy: .by(\.projectID), mapper: TaskRow.init)
/// controller.delegate = self
/// controller.performFetch()
/// ```
///
/// Reports every write, from this context, another thread or another process. A change costs what it changes, not what is shown.
/// Belongs to the store's context, where it calls the delegate. Maps a row when it is first read, and again after it changed; or
/// elsewhere, see `mappingElsewhere`.
public final class ResultsController<T: Model, U> {
  /// Notified of changes after the fetch.
  public weak var delegate: (any ResultsControllerDelegate<U>)?
  /// The request: type, store, condition and order.
  public let request: ResultsRequest<T>

  let sectioning: Sectioning<T>?
  let mapping: RowMapping<T, U>
  var filter: ((T) -> Bool)?
  let initialLimit: Int?
  let neighbours: Set<Int>
  let reading: [String]

  /// The rows in one version of the store.
  struct State {
    var objects: FixedResults<T>
    var rows: SectionedRows
  }

  /// The state shown; nil before the first fetch.
  var shown: State?
  /// The state to be shown next. Ahead of `shown` while rows are mapped elsewhere.
  var latest: State?
  /// The mapped rows, by object key.
  var mapped: [Int64: U] = [:]
  /// Whether rows of a change are being mapped elsewhere. Meanwhile the store collects changes as net changes.
  var isPreparing = false
  /// The change that waits for them, and the number of its preparation. A superseded preparation shows nothing.
  var prepared: Step?
  var preparation = 0
  /// Whether changes are reported at once, without waiting for rows to be mapped elsewhere.
  var isHurried = false
  /// Whether it shows the rows that result from the write that it is committing.
  var hasMoved = false
  /// Whether a batch is being reported, and whether more changes arrived meanwhile.
  var isTelling = false
  var isBehind = false
  /// The requests made meanwhile.
  var waiting: [() -> Void] = []
  var token: NotificationToken?
  var resume: () -> Void = {}
  /// Blocks that are called with whole batches.
  var feeds: [(ResultsController<T, U>, SectionedChanges) -> Void] = []

  /// - Parameter sectioning: nil: one section.
  /// - Parameter limit: the maximum number of rows; see `showMore(_:)`.
  /// - Parameter neighbours: offsets, within the section, of the rows that the drawing of a row depends on. With `[-1]` a row is
  ///   also reported as updated if the row above it changed or is another one.
  /// - Parameter reading: paths that mapper and filter read over inverses or more than three links: `["tasks.isDone"]`. A change
  ///   there counts as a change of the row. Paths of up to three links need not be listed.
  /// - Parameter filter: a test in addition to the request's condition, for what only code can decide.
  ///
  /// Throws `.emptySortDescriptors` if the request has no order, `.invalidKeyPath` if the sections do not follow its first sort
  /// key, and the errors of the request itself.
  public convenience init(
    request: ResultsRequest<T>, sectionedBy sectioning: Sectioning<T>? = nil, limit: Int? = nil,
    neighbours: Set<Int> = [], reading: [String] = [], mapper: @escaping (T) -> U, filter: ((T) -> Bool)? = nil
  ) throws(StoreError) {
    try self.init(request, sectioning, limit, neighbours, reading, .here(mapper), filter)
  }

  init(
    _ request: ResultsRequest<T>, _ sectioning: Sectioning<T>?, _ limit: Int?, _ neighbours: Set<Int>,
    _ reading: [String], _ mapping: RowMapping<T, U>, _ filter: ((T) -> Bool)?
  ) throws(StoreError) {
    guard let first = request.sort.first else {
      throw StoreError(
        .emptySortDescriptors, "A results controller needs an order.", remedy: "Give the request at least one sort key.")
    }
    if let sectioning, !sectioning.inputs.contains(first.path) {
      throw StoreError(
        .invalidKeyPath,
        "Sections by '\(sectioning.inputs.map(\.description).joined(separator: ", "))' do not follow the first sort key "
          + "'\(first.path)'.",
        remedy: "Sort by what the sections are made from first.")
    }
    if let sectioning, sectioning.compute == nil, first.folding != nil {
      throw StoreError(
        .invalidKeyPath, "Sections of '\(first.path)' as it is written do not follow an order that leaves case or diacritics out.",
        remedy: "Order by the texts as they are, or compute the section from what the order leaves of them.")
    }
    if let error = request.execute().error { throw error }
    self.request = request
    self.sectioning = sectioning
    self.mapping = mapping
    self.filter = filter
    self.neighbours = neighbours
    self.reading = reading
    initialLimit = limit
  }

  deinit { token?.stop() }
}

extension ResultsController where U == T {
  /// Shows the live objects themselves.
  public convenience init(
    request: ResultsRequest<T>, sectionedBy sectioning: Sectioning<T>? = nil, limit: Int? = nil,
    neighbours: Set<Int> = [], reading: [String] = [], filter: ((T) -> Bool)? = nil
  ) throws(StoreError) {
    try self.init(request, sectioning, limit, neighbours, reading, .here { $0 }, filter)
  }
}

extension ResultsController where U: Sendable {
  /// Maps rows on another thread, from objects in the version shown: for slow mappers.
  ///
  /// ```swift
  /// let controller = try ResultsController(request: request, mappingElsewhere: { (task: Frozen<TaskItem>) in Card(task) })
  /// await controller.fetch()
  /// ```
  ///
  /// A change is reported when its rows are mapped; until then the controller shows the rows reported last, and further changes are
  /// combined into one. Start it with `fetch()`, which maps all rows elsewhere; after `performFetch()` each row is mapped here when
  /// it is first read. If the store has no context to return to, everything is mapped here.
  public convenience init(
    request: ResultsRequest<T>, sectionedBy sectioning: Sectioning<T>? = nil, limit: Int? = nil,
    neighbours: Set<Int> = [], reading: [String] = [], mappingElsewhere mapper: @escaping @Sendable (Frozen<T>) -> U,
    filter: ((T) -> Bool)? = nil
  ) throws(StoreError) {
    try self.init(request, sectioning, limit, neighbours, reading, .elsewhere(mapper), filter)
  }
}

extension StoreError.Code {
  /// A results controller was given a request without an order.
  public static let emptySortDescriptors = Self(rawValue: "emptySortDescriptors")
  /// The sections of a results controller do not follow the first sort key.
  public static let invalidKeyPath = Self(rawValue: "invalidKeyPath")
  /// The delegate of a results controller tried to write with it during a batch.
  public static let writeInBatch = Self(rawValue: "writeInBatch")
}
