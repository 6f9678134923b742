import Foundation
import Vivarium

// The names that RealmResultsController had for writes it was to notice. Here every write is noticed; these add the post
// to a `NotificationCenter` for each object.

/// What a post named by an object's `objectIdentifier` carries, under `ObjectPost.key`.
public struct ObjectPost: Sendable {
  /// What happened to the object.
  public enum Action: String, Sendable, Hashable {
    case add
    case update
    case delete
  }

  /// The key in `userInfo`.
  public static let key = "change"

  /// What happened to the object, as the commit left it.
  public let action: Action
  /// Names the object in any context.
  public let object: ObjectID
  /// The object's scalars by name when the write ended; of a deleted one, before it was deleted.
  public let values: [String: Value]
}

extension Store {
  /// Adds an object and, when the write is committed, posts it: as an update where `update` found one that was there before.
  public func addNotified<T: Model>(
    _ object: T, update: UpdatePolicy = .error, posting center: NotificationCenter = .default
  ) throws(StoreError) {
    try add(object, update: update)
    try post(.add, object, center)
  }

  /// As of one object, for each of them.
  public func addNotified<S: Sequence>(
    _ objects: S, update: UpdatePolicy = .error, posting center: NotificationCenter = .default
  ) throws(StoreError) where S.Element: Model {
    for object in objects { try addNotified(object, update: update, posting: center) }
  }

  /// Makes an object from values by name and, when the write is committed, posts it.
  @discardableResult
  public func createNotified<T: Model>(
    _ type: T.Type, value: [String: Any?] = [:], update: UpdatePolicy = .error,
    posting center: NotificationCenter = .default
  ) throws(StoreError) -> T {
    let object = try create(type, value: value, update: update)
    try post(.add, object, center)
    return object
  }

  /// Deletes an object and, when the write is committed, posts it.
  public func deleteNotified<T: Model>(
    _ object: T, posting center: NotificationCenter = .default
  ) throws(StoreError) {
    let (name, id, values, wasThere) = (object.objectIdentifier, identity(of: object), object.scalars, wasCommitted(object))
    try delete(object)
    try afterCommit { _ in
      // Of an object that came and went in one write, or that a savepoint brought back, there is nothing to report.
      if wasThere, object.isInvalidated { ObjectPost(action: .delete, object: id, values: values).send(name, center) }
    }
  }

  /// As of one object, for each of them.
  public func deleteNotified<S: Sequence>(
    _ objects: S, posting center: NotificationCenter = .default
  ) throws(StoreError) where S.Element: Model {
    for object in Array(objects) { try deleteNotified(object, posting: center) }
  }

  fileprivate func post<T: Model>(_ action: ObjectPost.Action, _ object: T, _ center: NotificationCenter) throws(StoreError) {
    let (name, id) = (object.objectIdentifier, identity(of: object))
    let net = action == .add && wasCommitted(object) ? .update : action
    try afterCommit { _ in
      // What the same write deleted, or undid, was never there for others.
      if !object.isInvalidated { ObjectPost(action: net, object: id, values: object.scalars).send(name, center) }
    }
  }

  private func identity<T: Model>(of object: T) -> ObjectID { ObjectID(type: T._$name, key: ObjectKey(object._$key)) }
}

extension Model {
  /// Counts as an update of this object though no property changed: something outside the store did, an image file for
  /// example. In a write; observers of results and controllers hear of one modification. Posts like `addNotified`.
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
