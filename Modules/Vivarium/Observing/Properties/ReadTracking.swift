import Observation
import StorageInterface
import StoreValues

extension Store {
  /// Whether `withObservationTracking`, and with it SwiftUI, sees what is read of this store's objects and results. On at first in
  /// stores of the main actor, queue and run loop, off in others: a read that is tracked costs some ten times as much, one that
  /// is not costs nothing more.
  ///
  /// Objects need no memory for it: a change may wake who read the same property of another object, and never fails to wake who
  /// read it. Changes of other contexts and processes are seen when the store refreshes.
  public var tracksReads: Bool {
    get { observing.tracksReads }
    set {
      observing.tracksReads = newValue
      for context in allContexts { context.raw.pointee.tracksReads = newValue }
    }
  }

  /// After a refresh from an older version: wakes whoever tracks what changed since.
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

  /// After anything may have changed: wakes whoever tracks any read.
  func allTrackedReadsDidChange() {
    guard observing.tracksReads else { return }
    for context in allContexts { context.allTrackedReadsDidChange() }
  }
}

extension ModelContext {
  private static let stripes: Int64 = 64
  /// What stands for the objects of the type as a whole, and for which of them there are.
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

  /// Results of the type were read.
  func didReadResults() { didReadCell(ModelContext.whole) }

  /// It was asked whether an object is there: only one that comes or goes makes another answer.
  func didReadMembership() { didReadCell(ModelContext.membership) }

  private func didReadCell(_ id: Int64) {
    if store.observing.readTrace != nil { return }
    let cell = cells[id] ?? ReadCell()
    cells[id] = cell
    cell.read()
  }

  /// A property of an object was set.
  func didChangeValue(_ key: Int64, _ ordinal: Int) {
    guard raw.pointee.tracksReads else { return }
    cells[ModelContext.cellKey(key, ordinal)]?.change()
    didChangeResults()
  }

  /// Results of the type may differ.
  func didChangeResults() {
    guard raw.pointee.tracksReads else { return }
    cells[ModelContext.whole]?.change()
  }

  /// Objects came.
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

/// One property of one object in sixty-four, as Observation sees it.
final class ReadCell: Observable {
  private let registrar = ObservationRegistrar()
  private var changes: Int { 0 }

  func read() { registrar.access(self, keyPath: \.changes) }
  func change() { registrar.withMutation(of: self, keyPath: \.changes) {} }
}
