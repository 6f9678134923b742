import Vivarium

/// Which objects a results controller shows in which sections: a plain value, for diffable data sources and for other
/// threads.
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
    /// What its rows have in common; null where there is no sectioning.
    public let key: Value
    /// Its objects, in the order of the rows.
    public let objects: [ObjectID]
  }

  /// All sections, in their order.
  public let sections: [Section]
}
