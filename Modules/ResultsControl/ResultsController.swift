import ChangeTracker
import Vivarium

/// Shows the objects of a request in sections, and says exactly what changes: what a table view needs, without one.
///
/// ```swift
/// let controller = try ResultsController(
///   request: ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.projectID), SortKey(\TaskItem.name)]),
///   sectionedBy: .by(\.projectID), mapper: TaskRow.init)
/// controller.delegate = self
/// controller.performFetch()
/// ```
///
/// Every write counts, whoever makes it and however: this context, another thread, another process. A change costs what
/// it changed, not what is shown. Belongs to the store's context, where the delegate is called. Rows are mapped when they
/// are first asked for, and again when they changed; or elsewhere, see `mappingElsewhere`.
public final class ResultsController<T: Model, U> {
  /// Hears of changes after the fetch.
  public weak var delegate: (any ResultsControllerDelegate<U>)?
  /// What is shown: of which type, in which store and order.
  public let request: ResultsRequest<T>

  let sectioning: Sectioning<T>?
  let mapping: RowMapping<T, U>
  var filter: ((T) -> Bool)?
  let initialLimit: Int?
  let neighbours: Set<Int>
  let reading: [String]

  /// Rows of one version of the store.
  struct State {
    var objects: FixedResults<T>
    var rows: SectionedRows
  }

  /// What is shown; nil before the first fetch.
  var shown: State?
  /// What that leads to: ahead of what is shown while rows are mapped elsewhere.
  var latest: State?
  /// Rows that were mapped, by object key.
  var mapped: [Int64: U] = [:]
  /// Whether rows are being mapped elsewhere for a change. While they are, the store keeps what happens as net changes.
  var isPreparing = false
  /// The change that waits for them, and which preparation that is: one that was overtaken has nothing to show.
  var prepared: Step?
  var preparation = 0
  /// Whether nothing waits for rows to be mapped elsewhere: what comes is reported at once.
  var isHurried = false
  /// A write of its own is being committed, whose rows it shows by itself.
  var isCommitting = false
  /// Whether the delegate hears of a batch, and whether there was more to take meanwhile.
  var isTelling = false
  var isBehind = false
  /// What was asked for meanwhile.
  var waiting: [() -> Void] = []
  var token: NotificationToken?
  var resume: () -> Void = {}
  /// Blocks that hear of whole batches.
  var feeds: [(ResultsController<T, U>, SectionedChanges) -> Void] = []

  /// - Parameter sectioning: nil: one section.
  /// - Parameter limit: at most so many rows; see `showMore(_:)`.
  /// - Parameter neighbours: rows that the drawing of a row depends on, as offsets in its section: with `[-1]` a row is
  ///   reported as updated too when another one stands above it, or the one above changed.
  /// - Parameter reading: paths that mapper and filter read over inverses or more than three links: `["tasks.isDone"]`. A
  ///   change there is a change of the row. What lies up to three links away needs no naming.
  /// - Parameter filter: a test beside the request's condition, for what only code can decide.
  ///
  /// `.emptySortDescriptors` when the request has no order, `.invalidKeyPath` when the sections do not follow its first
  /// sort key, and what is wrong with the request itself.
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
  /// Maps rows on another thread, from objects as they are in the version that is shown: for mappers that take their
  /// time.
  ///
  /// ```swift
  /// let controller = try ResultsController(request: request, mappingElsewhere: { (task: Frozen<TaskItem>) in Card(task) })
  /// await controller.fetch()
  /// ```
  ///
  /// The delegate hears of a change when its rows are mapped; until then the controller shows what it reported last, and
  /// what happens meanwhile becomes one change. Start it with `fetch()`, which maps all rows elsewhere; after
  /// `performFetch()` rows are mapped here when they are first asked for. Where the store has no context to come back to,
  /// everything is mapped here.
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
  /// The delegate of a results controller tried to write by it, inside a batch.
  public static let writeInBatch = Self(rawValue: "writeInBatch")
}
