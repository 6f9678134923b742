import ChangeTracker
import StorageInterface

// For the observers of a property, a `create` that updates and `setValue(_:forKey:)` are settings like any other.

extension Store {
  /// Before a value is written: makes the prior calls of the property's observers, as before any other change.
  func announce(_ ordinal: Int, of key: Int64, _ context: ModelContext, _ creation: inout Creation) {
    guard observing.hasProperties else { return }
    if context.properties[ordinal].schema.isRelationship { creation.relationships.insert(context.columns[ordinal]) }
    if creation.made.contains(ObjectPlace(table: context.table, key: key)) { return }
    creation.assigned.append((context, key, ordinal))
    context.willSet(key, ordinal)
    // Drops windows that a handler's reads have borrowed: they are valid only until the next change.
    dropWindows()
  }

  /// After the last step that can fail: notifies observers of properties of the changes, before the caller's next statement.
  func notify(of creation: Creation) {
    guard observing.hasProperties else { return }
    for (context, key, ordinal) in creation.assigned { context.compare(key, ordinal) }
    if creation.relationships.isEmpty { return }
    // Replacing an embedded object deletes it; such deletions can only be observed if an embedded type is in use.
    if allContexts.contains(where: \.isEmbedded) { return checkPropertyObservers() }
    for column in creation.relationships { checkInverses(of: column) }
  }
}
