import Observation
import StorageInterface
import StoreValues

/// A live object. `@Model` generates the conformance; it is not written by hand.
///
/// An object starts unmanaged: a plain instance that holds its values. `Store.add` makes it managed: from then on it holds no
/// values, and every read returns the value in its store's version.
///
/// Not `Sendable`: a managed object belongs to its store's context. Managed objects are equal if store and identity are; adding an
/// object changes its hash.
public protocol Model: AnyObject, SchemaDescribing, Observable, PersistableElement, Hashable, Identifiable, Codable,
  CustomStringConvertible, StoreObservable, PredicateArgument
where ObservationChange == ObjectChange {
  init(_$handle: ModelHandle)
  /// Creates an unmanaged object with its defaults; required properties have no value yet.
  init(_$blank: Void)
  var _$raw: UnsafeMutablePointer<RawContext>? { get set }
  var _$key: Int64 { get set }
  var _$owner: AnyObject? { get set }
  /// The observers of single properties while the object is unmanaged; nil once it is managed.
  var _$observers: UnmanagedObservers? { get set }
  /// A constant. The schema of one type may use another's name but never its schema: two static schemas that need each other would
  /// deadlock.
  static var _$name: String { get }
  static var _$keyPaths: [any PartialKeyPath<Self> & Sendable] { get }
  /// The ordinals of the properties whose default is no literal, and may be another value for each object.
  static var _$computedDefaults: [Int] { get }
  /// Puts an unmanaged object's values into a row.
  func _$fill(_ adoption: Adoption) throws(StoreError)
}

extension Model {
  public static var _$computedDefaults: [Int] { [] }
}

/// The parts of a managed object: its type's context in a store, its key, and the store that it keeps alive.
public struct ModelHandle {
  /// The context of the object's type in its store.
  public let raw: UnsafeMutablePointer<RawContext>
  /// The object's key; 0 if there is no object.
  public let key: Int64
  /// The object that keeps the store open.
  public let owner: AnyObject

  @inlinable init(_ raw: UnsafeMutablePointer<RawContext>, _ key: Int64, _ owner: AnyObject) {
    self.raw = raw
    self.key = key
    self.owner = owner
  }
}

/// Identifies an object of a store in any context, by type and key.
public struct ObjectID: Sendable, Hashable, Codable {
  /// The name of the type in the schema.
  public let type: String
  /// The key; never reused for another object of the type.
  public let key: ObjectKey

  /// Names an object, which need not exist.
  public init(type: String, key: ObjectKey) {
    self.type = type
    self.key = key
  }
}
