import Vivarium

/// The objects that a results controller shows, by section: a plain value, for diffable data sources and for other threads.
///
/// ```swift
/// for section in controller.snapshot.sections {
///   dataSourceSnapshot.appendSections([section.key])
///   dataSourceSnapshot.appendItems(section.objects)
/// }
/// ```
public struct ResultsSnapshot: Sendable, Hashable {
  /// One section.
  public struct Section: Sendable, Hashable {
    /// The key that its rows share; null without sectioning.
    public let key: Value
    /// Its objects, in the order of the rows.
    public let objects: [ObjectID]
  }

  /// All sections, in their order.
  public let sections: [Section]
}
