import ChangeTracker
import StorageInterface
import StoreValues

extension Store {
  /// Whether an object was there before the open write; without one, whether it is there.
  package func wasCommitted<T: Model>(_ object: T) -> Bool {
    guard let context = object.context, context.store.shared === shared else { return false }
    return (try? snapshot.contains(context.table, ObjectKey(object._$key))) ?? false
  }

  /// Counts as a modification of an object, though no property changes: observers of results and lists hear of it,
  /// whatever they filter. For what is set to an equal value and should be reported all the same, which by itself it is
  /// not, and for what the store does not keep: a file that the object names.
  ///
  /// ```swift
  /// try store.write { try store.touch(photo) }
  /// ```
  ///
  /// Observers of the object itself, which compare values, hear nothing. `.notInWrite`, `.objectDeleted`,
  /// `.wrongStore`.
  public func touch<T: Model>(_ object: T) throws(StoreError) {
    let write = try openWrite(for: "Touching a \(T._$name)")
    guard let context = object.context, context.store.shared === shared else {
      throw .wrongStore("The \(T._$name) object")
    }
    guard context.lives(object._$key) else { throw .objectDeleted(type: T._$name, key: object._$key) }
    for property in context.properties where property.schema.isStored {
      write.touch(property.column, ObjectKey(object._$key))
    }
  }
}
