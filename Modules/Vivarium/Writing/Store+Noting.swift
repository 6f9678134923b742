import ChangeTracker
import StorageInterface
import StoreValues

extension Store {
  /// Whether an object existed before the open write; without one, whether it exists.
  package func wasCommitted<T: Model>(_ object: T) -> Bool {
    guard let context = object.context, context.store.shared === shared else { return false }
    return (try? snapshot.contains(context.table, ObjectKey(object._$key))) ?? false
  }

  /// Reports a modification of an object although no property changes: observers of results and lists are notified, whatever they
  /// filter. For values set to equal ones that must be reported all the same, which by default they are not, and for data outside
  /// the store: a file that the object names.
  ///
  /// ```swift
  /// try store.write { try store.touch(photo) }
  /// ```
  ///
  /// Observers of the object itself compare values and are not notified. Throws `.notInWrite`, `.objectDeleted`, `.wrongStore`.
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
