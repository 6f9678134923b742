import Vivarium

/// What happened to a row or section.
public enum ResultsChangeType: String, Sendable, Hashable {
  case insert
  case delete
  case update
  case move
}

/// Hears of every change of a results controller, on the context of its store.
///
/// For one change of the data: `willChangeResults`, then sections that went (last first) and came (first first), then rows that
/// were deleted (last first), inserted, moved and updated, then `didChangeResults`. Nothing else comes in between, and the
/// controller shows the new rows in all four. Deletions, and the old paths of moves and updates, count in the old
/// sections; insertions and new paths in the new ones.
///
/// A class of an actor conforms in isolation: `final class Screen: @MainActor ResultsControllerDelegate`.
public protocol ResultsControllerDelegate<Element>: AnyObject {
  /// What the controller's rows are mapped to.
  associatedtype Element

  /// Changes follow. The controller shows the new rows already.
  func willChangeResults(_ controller: AnyObject)

  /// - Parameter object: nil for a deleted row that was never mapped: its object is gone.
  /// - Parameter oldPath: where the row was; of an inserted row the same as `newPath`.
  /// - Parameter newPath: where the row is; of a deleted row the same as `oldPath`.
  func didChangeObject(
    _ object: Element?, controller: AnyObject, oldPath: RowPath, newPath: RowPath, changeType: ResultsChangeType)

  /// - Parameter index: of an inserted section in the new sections, of a deleted one in the old; that one has no rows.
  func didChangeSection(
    _ section: ResultsSection<Element>, controller: AnyObject, index: Int, changeType: ResultsChangeType)

  /// All changes were reported: once for each `willChangeResults`.
  func didChangeResults(_ controller: AnyObject)

  /// The results cannot be kept any more. The last call.
  func resultsFailed(_ error: StoreError, controller: AnyObject)
}

extension ResultsControllerDelegate {
  public func willChangeResults(_ controller: AnyObject) {}
  public func didChangeObject(
    _ object: Element?, controller: AnyObject, oldPath: RowPath, newPath: RowPath, changeType: ResultsChangeType
  ) {}
  public func didChangeSection(
    _ section: ResultsSection<Element>, controller: AnyObject, index: Int, changeType: ResultsChangeType
  ) {}
  public func didChangeResults(_ controller: AnyObject) {}
  public func resultsFailed(_ error: StoreError, controller: AnyObject) {}
}
