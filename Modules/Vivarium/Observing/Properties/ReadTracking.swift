import Observation
import StorageInterface
import StoreValues

extension Store {
  /// Whether `withObservationTracking`, and with it SwiftUI, sees reads of this store's objects and results. Initially on in stores
  /// of the main actor, queue and run loop, off in others: a tracked read costs about ten times as much; an untracked one has no
  /// extra cost.
  ///
  /// Tracking needs no memory per object: a change may also wake a reader of the same property of another object, and never fails
  /// to wake a reader of its own. Changes of other contexts and processes are seen when the store refreshes.
  public var tracksReads: Bool {
    get { observing.tracksReads }
    set {
      observing.tracksReads = newValue
      for context in allContexts { context.raw.pointee.tracksReads = newValue }
    }
  }

  /// After a refresh from an older version: wakes the readers of properties and results that changed since.
  func trackedReadsDidChange(since version: Version) {
    guard observing.tracksReads else { return }
    let contexts = Dictionary(grouping: allContexts, by: \.table)
    do throws(StorageError) {
      try snapshot.history(after: version) { record in
        for change in record.tables {
          for context in contexts[change.table] ?? [] { context.trackedReadsDidChange(by: change) }
        }
        return .proceed
      }
    } catch {
      allTrackedReadsDidChange()
    }
  }

  /// After anything may have changed: wakes all readers.
  func allTrackedReadsDidChange() {
    guard observing.tracksReads else { return }
    for context in allContexts { context.allTrackedReadsDidChange() }
  }
}

extension ModelContext {
  private static let stripes: Int64 = 64
  /// Cell keys for all objects of the type, and for the set of objects that exist.
  private static let whole: Int64 = -1
  private static let membership: Int64 = -2

  private static func cellKey(_ key: Int64, _ ordinal: Int) -> Int64 { (key & (stripes - 1)) << 32 | Int64(ordinal) }

  func didRead(_ key: Int64, _ ordinal: Int) {
    if let trace = store.observing.readTrace { return trace.note(PathPlace(self, key, ordinal)) }
    let id = ModelContext.cellKey(key, ordinal)
    let cell = cells[id] ?? ReadCell()
    cells[id] = cell
    cell.read()
  }

  /// Records that results of the type were read.
  func didReadResults() { didReadCell(ModelContext.whole) }

  /// Records a check whether an object exists; only insertions and deletions change its result.
  func didReadMembership() { didReadCell(ModelContext.membership) }

  private func didReadCell(_ id: Int64) {
    if store.observing.readTrace != nil { return }
    let cell = cells[id] ?? ReadCell()
    cells[id] = cell
    cell.read()
  }

  /// Call after a property of an object was set.
  func didChangeValue(_ key: Int64, _ ordinal: Int) {
    guard raw.pointee.tracksReads else { return }
    cells[ModelContext.cellKey(key, ordinal)]?.change()
    didChangeResults()
  }

  /// Call when results of the type may differ.
  func didChangeResults() {
    guard raw.pointee.tracksReads else { return }
    cells[ModelContext.whole]?.change()
  }

  /// Call after objects were inserted.
  func didChangeMembership() {
    guard raw.pointee.tracksReads else { return }
    didChangeResults()
    cells[ModelContext.membership]?.change()
  }

  fileprivate func allTrackedReadsDidChange() {
    for cell in cells.values { cell.change() }
  }

  fileprivate func trackedReadsDidChange(by change: TableChange) {
    if change.inserted.isEmpty { didChangeResults() } else { didChangeMembership() }
    if !change.deleted.isEmpty { return allTrackedReadsDidChange() }
    for object in change.modified {
      for ordinal in properties.indices where object.properties.contains(properties[ordinal].column.property) {
        cells[ModelContext.cellKey(object.key.rawValue, ordinal)]?.change()
      }
    }
  }
}

/// One property of the objects whose keys agree modulo 64, as Observation sees it.
final class ReadCell: Observable {
  private let registrar = ObservationRegistrar()
  private var changes: Int { 0 }

  func read() { registrar.access(self, keyPath: \.changes) }
  func change() { registrar.withMutation(of: self, keyPath: \.changes) {} }
}
