import ChangeTracker
import StorageInterface
import StoreValues

extension Store {
  /// Fewer observed objects than this are compared one by one, which is cheaper than reading the commit records.
  private static let fewObserved = 32

  /// Notifies the observers of properties of changes committed since the last comparison. Compares the objects that commits
  /// touched, and derived properties.
  func checkCommittedProperties() {
    let before = observing.checkedVersion
    observing.checkedVersion = snapshot.version
    guard observing.hasProperties else { return }
    checkPropertyObservers(of: before.flatMap { observedPlaces(touchedSince: $0) })
  }

  /// The observed objects that commits touched after a version; nil if that is unknown, or not worth computing.
  private func observedPlaces(touchedSince version: Version) -> Set<ObjectPlace>? {
    if version == snapshot.version { return [] }
    let observed = allContexts.filter { !$0.propertyObservers.isEmpty }
    if observed.reduce(0, { $0 + $1.propertyObservers.count }) < Store.fewObserved { return nil }
    let contexts = Dictionary(grouping: observed, by: \.table)
    var touched: Set<ObjectPlace> = []
    do throws(StorageError) {
      try snapshot.history(after: version) { record in
        for change in record.tables {
          for context in contexts[change.table] ?? [] { context.collect(change, into: &touched) }
        }
        return .proceed
      }
    } catch {
      return nil
    }
    return touched
  }
}

extension ModelContext {
  /// Collects the observed objects among those that a commit touched.
  fileprivate func collect(_ change: TableChange, into touched: inout Set<ObjectPlace>) {
    for object in change.modified where propertyObservers[object.key.rawValue] != nil {
      touched.insert(ObjectPlace(table: table, key: object.key.rawValue))
    }
    if change.deleted.isEmpty, change.inserted.isEmpty { return }
    for key in propertyObservers.keys
    where change.deleted.contains(key) || change.inserted.contains(key) {
      touched.insert(ObjectPlace(table: table, key: key))
    }
  }
}
