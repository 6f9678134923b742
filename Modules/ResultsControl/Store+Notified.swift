import Foundation
import Vivarium

// The names that RealmResultsController had for the writes it was to notice. Here every write is noticed; these methods also post
// each object to a `NotificationCenter`.

/// The content of a post named by an object's `objectIdentifier`, under `ObjectPost.key`.
public struct ObjectPost: Sendable {
  /// What happened to the object.
  public enum Action: String, Sendable, Hashable {
    case add
    case update
    case delete
  }

  /// The key in `userInfo`.
  public static let key = "change"

  /// The net change of the object in the commit.
  public let action: Action
  /// Identifies the object in any context.
  public let object: ObjectID
  /// The object's scalars by name at the end of the write; for a deleted object, before its deletion.
  public let values: [String: Value]
}

extension Store {
  /// Adds an object and posts it when the write is committed: as an update if `update` found an existing object.
  public func addNotified<T: Model>(
    _ object: T, update: UpdatePolicy = .error, posting center: NotificationCenter = .default
  ) throws(StoreError) {
    try add(object, update: update)
    try post(.add, object, center)
  }

  /// Adds and posts each object, as for one.
  public func addNotified<S: Sequence>(
    _ objects: S, update: UpdatePolicy = .error, posting center: NotificationCenter = .default
  ) throws(StoreError) where S.Element: Model {
    for object in objects { try addNotified(object, update: update, posting: center) }
  }

  /// Creates an object from values by name, and posts it when the write is committed.
  @discardableResult
  public func createNotified<T: Model>(
    _ type: T.Type, value: [String: Any?] = [:], update: UpdatePolicy = .error,
    posting center: NotificationCenter = .default
  ) throws(StoreError) -> T {
    let object = try create(type, value: value, update: update)
    try post(.add, object, center)
    return object
  }

  /// Deletes an object, and posts it when the write is committed.
  public func deleteNotified<T: Model>(
    _ object: T, posting center: NotificationCenter = .default
  ) throws(StoreError) {
    let (name, id, values, wasThere) = (object.objectIdentifier, identity(of: object), object.scalars, wasCommitted(object))
    try delete(object)
    try afterCommit { _ in
      // There is nothing to report for an object that one write added and deleted, or that a savepoint restored.
      if wasThere, object.isInvalidated { ObjectPost(action: .delete, object: id, values: values).send(name, center) }
    }
  }

  /// Deletes and posts each object, as for one.
  public func deleteNotified<S: Sequence>(
    _ objects: S, posting center: NotificationCenter = .default
  ) throws(StoreError) where S.Element: Model {
    for object in Array(objects) { try deleteNotified(object, posting: center) }
  }

  fileprivate func post<T: Model>(_ action: ObjectPost.Action, _ object: T, _ center: NotificationCenter) throws(StoreError) {
    let (name, id) = (object.objectIdentifier, identity(of: object))
    let net = action == .add && wasCommitted(object) ? .update : action
    try afterCommit { _ in
      // For others, an object that the same write deleted or undid never existed.
      if !object.isInvalidated { ObjectPost(action: net, object: id, values: object.scalars).send(name, center) }
    }
  }

  private func identity<T: Model>(of object: T) -> ObjectID { ObjectID(type: T._$name, key: ObjectKey(object._$key)) }
}

extension Model {
  /// Reports an update of this object although no property changed, for a change outside the store, such as an image file. In a
  /// write; observers of results and controllers are notified of one modification. Posts like `addNotified`.
  public func notifyChange(posting center: NotificationCenter = .default) throws(StoreError) {
    guard let store else { return }
    try store.touch(self)
    try store.post(.update, self, center)
  }

  fileprivate var scalars: [String: Value] {
    var values: [String: Value] = [:]
    for property in Self._$schema.properties where property.isScalar { values[property.name] = self[property.name] }
    return values
  }
}

extension ObjectPost {
  fileprivate func send(_ name: String, _ center: NotificationCenter) {
    center.post(name: Notification.Name(name), object: nil, userInfo: [ObjectPost.key: self])
  }
}
