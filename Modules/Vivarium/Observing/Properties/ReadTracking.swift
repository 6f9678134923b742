import Observation
import StorageInterface
import StoreValues

extension Store {
  /// Whether `withObservationTracking`, and with it SwiftUI, sees reads of this store's objects and results. Initially on in stores
  /// of the main actor, queue and run loop, off in others: a tracked read of a number costs twice an untracked one, or some
  /// 20 ns more; what is not tracked costs nothing.
  ///
  /// Tracking needs no memory per object: a change may also wake a reader of the same property of another object, and never fails
  /// to wake a reader of its own. Changes of other contexts and processes are seen when the store refreshes.
  public var tracksReads: Bool {
    get { observing.tracksReads }
    set {
      observing.tracksReads = newValue
      for context in allContexts { reportReads(of: context) }
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
  func didRead(_ key: Int64, _ ordinal: Int) {
    if raw.pointee.isTraced, let trace = store.observing.readTrace { return trace.note(PathPlace(self, key, ordinal)) }
    cells.cell(at: ReadCells.place(key, ordinal)).read()
  }

  /// Records that results of the type were read.
  func didReadResults() { didReadCell(ReadCells.whole) }

  /// Records a check whether an object exists; only insertions and deletions change its result.
  func didReadMembership() { didReadCell(ReadCells.membership) }

  private func didReadCell(_ place: Int) {
    if !raw.pointee.isTraced { cells.cell(at: place).read() }
  }

  /// Call after a property of an object was set.
  func didChangeValue(_ key: Int64, _ ordinal: Int) {
    guard raw.pointee.tracksReads else { return }
    cells[ReadCells.place(key, ordinal)]?.change()
    didChangeResults()
  }

  /// Call when results of the type may differ.
  func didChangeResults() {
    guard raw.pointee.tracksReads else { return }
    cells[ReadCells.whole]?.change()
  }

  /// Call after objects were inserted.
  func didChangeMembership() {
    guard raw.pointee.tracksReads else { return }
    didChangeResults()
    cells[ReadCells.membership]?.change()
  }

  fileprivate func allTrackedReadsDidChange() {
    for cell in cells.made { cell.change() }
  }

  fileprivate func trackedReadsDidChange(by change: TableChange) {
    if change.inserted.isEmpty { didChangeResults() } else { didChangeMembership() }
    if !change.deleted.isEmpty { return allTrackedReadsDidChange() }
    for object in change.modified {
      for ordinal in properties.indices where object.properties.contains(properties[ordinal].column.property) {
        cells[ReadCells.place(object.key.rawValue, ordinal)]?.change()
      }
    }
  }
}
