import Vivarium

/// What happened to a row or section.
public enum ResultsChangeType: String, Sendable, Hashable {
  case insert
  case delete
  case update
  case move
}

/// Notified of every change of a results controller, in the context of its store.
///
/// Each change of the data is one batch: `willChangeResults`; then sections removed (last first) and inserted (first first); then
/// rows deleted (last first), inserted, moved and updated; then `didChangeResults`. Nothing else comes in between, and the
/// controller shows the new rows throughout. Deletions, and the old paths of moves and updates, refer to the old sections;
/// insertions and new paths refer to the new ones.
///
/// A class of an actor declares an isolated conformance: `final class Screen: @MainActor ResultsControllerDelegate`.
public protocol ResultsControllerDelegate<Element>: AnyObject {
  /// The type that the controller maps its rows to.
  associatedtype Element

  /// Begins a batch. The controller already shows the new rows.
  func willChangeResults(_ controller: AnyObject)

  /// - Parameter object: nil for a deleted row that was never mapped: its object is gone.
  /// - Parameter oldPath: where the row was; for an inserted row, the same as `newPath`.
  /// - Parameter newPath: where the row is; for a deleted row, the same as `oldPath`.
  func didChangeObject(
    _ object: Element?, controller: AnyObject, oldPath: RowPath, newPath: RowPath, changeType: ResultsChangeType)

  /// - Parameter index: for an inserted section, its index in the new sections; for a deleted one, in the old. A deleted section
  ///   has no rows.
  func didChangeSection(
    _ section: ResultsSection<Element>, controller: AnyObject, index: Int, changeType: ResultsChangeType)

  /// Ends a batch: called once for each `willChangeResults`.
  func didChangeResults(_ controller: AnyObject)

  /// The results cannot be kept up to date any more. This is the last call.
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
