import ChangeTracker
import StorageInterface

// `create` that updates, and `setValue(_:forKey:)`, are settings like any other to who observes a property.

extension Store {
  /// Before a value is written. Who observes the property hears so as before any other change.
  func announce(_ ordinal: Int, of key: Int64, _ context: ModelContext, _ creation: inout Creation) {
    guard observing.hasProperties else { return }
    if context.properties[ordinal].schema.isRelationship { creation.relationships.insert(context.columns[ordinal]) }
    if creation.made.contains(ObjectPlace(table: context.table, key: key)) { return }
    creation.assigned.append((context, key, ordinal))
    context.willSet(key, ordinal)
    // What a handler read is lent until something changes.
    dropWindows()
  }

  /// Nothing can fail any more: observers of properties hear what is different, before the next statement of whoever called.
  func notify(of creation: Creation) {
    guard observing.hasProperties else { return }
    for (context, key, ordinal) in creation.assigned { context.compare(key, ordinal) }
    if creation.relationships.isEmpty { return }
    // What an object owns goes when its place is taken; it is observed only where its type is in use.
    if allContexts.contains(where: \.isEmbedded) { return checkPropertyObservers() }
    for column in creation.relationships { checkInverses(of: column) }
  }
}
