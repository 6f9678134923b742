import ChangeTracker
import Vivarium

/// Shows the objects of a request in sections, and says exactly what changes: what a table view needs, without one.
///
/// ```swift
/// let controller = try ResultsController(
///   request: ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\.projectID), SortKey(\.name)]),
///   sectionedBy: .by(\.projectID), mapper: TaskRow.init)
/// controller.delegate = self
/// controller.performFetch()
/// ```
///
/// Every write counts, whoever makes it and however: this context, another thread, another process. A change costs what
/// it changed, not what is shown. Belongs to the store's context, where the delegate is called. Rows are mapped when they
/// are first asked for, and again when they changed.
public final class ResultsController<T: Model, U> {
  /// Hears of changes after `performFetch()`.
  public weak var delegate: (any ResultsControllerDelegate<U>)?
  public let request: ResultsRequest<T>

  private let sectioning: Sectioning<T>?
  private let mapper: (T) -> U
  private var filter: ((T) -> Bool)?
  private let initialLimit: Int?

  // What is shown; nothing before the first fetch.
  private var objects: FixedResults<T>?
  private var rows: SectionedRows?
  private var mapped: [Int64: U] = [:]
  private var token: NotificationToken?
  /// Blocks that hear of whole batches.
  private var feeds: [Feed] = []

  private final class Feed {
    let block: (ResultsController<T, U>, SectionedChanges) -> Void
    init(_ block: @escaping (ResultsController<T, U>, SectionedChanges) -> Void) { self.block = block }
  }

  /// - Parameter sectioning: nil: one section.
  /// - Parameter filter: a test beside the request's condition, for what only code can decide. It may read what lies up to
  ///   three links away.
  /// - Parameter limit: at most so many rows; see `showMore(_:)`.
  ///
  /// `.emptySortDescriptors` when the request has no order, `.invalidKeyPath` when the sections do not follow its first
  /// sort key.
  public init(
    request: ResultsRequest<T>, sectionedBy sectioning: Sectioning<T>? = nil, limit: Int? = nil,
    mapper: @escaping (T) -> U, filter: ((T) -> Bool)? = nil
  ) throws(StoreError) {
    guard let first = request.sort.first else {
      throw StoreError(
        .emptySortDescriptors, "A results controller needs an order.", remedy: "Give the request at least one sort key.")
    }
    if let sectioning, !sectioning.inputs.contains(first.path) {
      throw StoreError(
        .invalidKeyPath, "Sections by '\(sectioning.inputs.map(\.description).joined(separator: ", "))' do not follow the first sort key '\(first.path)'.",
        remedy: "Sort by what the sections are made from first.")
    }
    self.request = request
    self.sectioning = sectioning
    self.mapper = mapper
    self.filter = filter
    initialLimit = limit
  }

  deinit { token?.stop() }
}

extension ResultsController where U == T {
  /// Shows the live objects themselves.
  public convenience init(
    request: ResultsRequest<T>, sectionedBy sectioning: Sectioning<T>? = nil, limit: Int? = nil,
    filter: ((T) -> Bool)? = nil
  ) throws(StoreError) {
    try self.init(request: request, sectionedBy: sectioning, limit: limit, mapper: { $0 }, filter: filter)
  }
}

extension StoreError.Code {
  /// A results controller was given a request without an order.
  public static let emptySortDescriptors = Self(rawValue: "emptySortDescriptors")
  /// The sections of a results controller do not follow the first sort key.
  public static let invalidKeyPath = Self(rawValue: "invalidKeyPath")
}

// MARK: - Fetching

extension ResultsController {
  /// Reads the rows, here and now, and hears of changes from then on. A second call does nothing.
  public func performFetch(
    isolation: isolated (any Actor)? = #isolation, fileID: StaticString = #fileID, line: UInt = #line
  ) {
    guard token == nil else { return }
    let tracking = ResultsTracking(request.execute(), isolation: isolation, fileID: fileID, line: line) { [weak self] step in
      self?.take(step)
    }
    let now = tracking.start
    token = tracking.token
    objects = now
    rows = SectionedRows(
      count: now.count, limit: initialLimit, keep: sectioning?.kept ?? (sectioning == nil ? [.null] : []),
      precedes: precedes, questions(now))
  }

  /// Ends the notifications. What is shown stays as it is.
  public func stop() { token?.stop() }

  private var precedes: (@Sendable (Value, Value) -> Bool)? {
    guard let sectioning, sectioning.compute == nil, let first = request.sort.first else { return nil }
    let wanted: Value.Order = first.ascending ? .before : .after
    return { $0.order(to: $1) == wanted }
  }

  private func questions(_ objects: FixedResults<T>) -> SectionedRows.Questions {
    let filter = filter
    return SectionedRows.Questions(
      key: sectionKey(objects), passes: filter.map { filter in { filter(objects[$0]) } })
  }

  private func sectionKey(_ objects: FixedResults<T>) -> (Int) -> Value {
    guard let sectioning else { return { _ in .null } }
    if let compute = sectioning.compute { return { compute(objects[$0]) } }
    let path = sectioning.inputs.first ?? PropertyPath([])
    return { objects.value(at: path, row: $0) }
  }
}

// MARK: - Changes

extension ResultsController {
  private func take(_ step: ResultsStep<T>) {
    switch step {
    case .initial: break  // the rows were read by the fetch itself
    case .error(let error): delegate?.resultsFailed(error, controller: self)
    case .update(let now, let changes, _):
      guard let old = objects, var rows else { return }
      objects = now
      var gone: [Int64: U] = [:]
      for row in changes.deletions { gone[old.key(at: row)] = mapped.removeValue(forKey: old.key(at: row)) }
      for row in changes.modificationsInNew { mapped[now.key(at: row)] = nil }
      let before = self.rows
      let changed = rows.apply(changes, questions(now))
      self.rows = rows
      tell(changed, old, before, gone)
    }
  }

  /// Another filter. What comes and goes is told like any change. O(rows of the request).
  public func updateFilter(_ filter: ((T) -> Bool)?) {
    self.filter = filter
    change { rows, objects in rows.refilter(count: objects.count, questions(objects)) }
  }

  /// Shows so many rows more; nil: all. What comes is told like any change. Nothing without a limit.
  public func showMore(_ count: Int?) {
    change { rows, objects in
      guard let limit = rows.limit else { return SectionedChanges() }
      return rows.resize(to: count.map { limit + $0 }, questions(objects))
    }
  }

  private func change(_ body: (inout SectionedRows, FixedResults<T>) -> SectionedChanges) {
    guard let objects, var rows else { return }
    let before = self.rows
    let changed = body(&rows, objects)
    self.rows = rows
    tell(changed, objects, before, [:])
  }

  private func tell(
    _ changes: SectionedChanges, _ old: FixedResults<T>, _ before: SectionedRows?, _ gone: [Int64: U]
  ) {
    if changes.isEmpty { return }
    for feed in feeds { feed.block(self, changes) }
    guard let delegate else { return }
    delegate.willChangeResults(self)
    for index in changes.deletedSections.reversed() {
      let section = ResultsSection<U>(key: before?.sections.key(of: index) ?? .null, count: 0) { [self] in object(atRow: $0) }
      delegate.didChangeSection(section, controller: self, index: index, changeType: .delete)
    }
    for index in changes.insertedSections {
      delegate.didChangeSection(section(index), controller: self, index: index, changeType: .insert)
    }
    for path in changes.deletions.reversed() {
      let key = before?.row(at: path).map { old.key(at: $0) }
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

  /// Calls `block` with each batch of changes, before the delegate hears of it: for those who apply it whole. It stays as
  /// long as the controller.
  public func onChange(_ block: @escaping (ResultsController<T, U>, SectionedChanges) -> Void) { feeds.append(Feed(block)) }
}

// MARK: - Access

extension ResultsController {
  /// Every section with its objects. Empty before the first fetch.
  public var sections: [ResultsSection<U>] { (0..<numberOfSections).map { section($0) } }

  public var numberOfSections: Int { rows?.sections.count ?? 0 }

  /// The rows of a section; 0 for a section that is not there.
  public func numberOfObjects(inSection section: Int) -> Int {
    guard let rows, section >= 0, section < rows.sections.count else { return 0 }
    return rows.sections.rowCount(of: section)
  }

  /// All rows that are shown.
  public var numberOfObjects: Int { rows?.sections.rowCount ?? 0 }

  /// The mapped object at a path; nil when there is none.
  public func object(at path: RowPath) -> U? {
    guard let rows, let row = rows.row(at: path) else { return nil }
    return object(atRow: row)
  }

  /// Where an object is; nil when it is not shown. O(rows).
  public func indexPath(of object: T) -> RowPath? {
    guard let objects, let rows, let row = objects.index(of: object) else { return nil }
    return rows.path(of: row)
  }

  /// The titles of an index at the side: one for each section.
  public var indexTitles: [String] { sections.map(\.indexTitle) }

  private func section(_ index: Int) -> ResultsSection<U> {
    guard let rows, let objects else { return ResultsSection(key: .null, count: 0) { [self] in object(atRow: $0) } }
    let key = rows.sections.key(of: index)
    let count = rows.sections.rowCount(of: index)
    return ResultsSection(key: key, count: count) { [self] in
      object(atRow: rows.row(at: RowPath(section: index, row: $0)) ?? objects.count)
    }
  }

  /// The mapped object of a row of the request.
  private func object(atRow row: Int) -> U {
    guard let objects else { return mapper(request.store.execute(request)[row]) }
    let key = objects.key(at: row)
    if let known = mapped[key] { return known }
    let made = mapper(objects[row])
    mapped[key] = made
    return made
  }
}
