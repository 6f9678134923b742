import Observation
import StorageInterface
import StoreValues

/// A live object. The conformance comes from `@Model`; nobody writes it by hand.
///
/// An object starts unmanaged, a plain instance with values of its own. `Store.add` makes it managed: from then on it
/// holds no values, and every read gives what its store's version says.
///
/// Not `Sendable`: a managed object belongs to its store's context. Equality of managed objects is that of
/// store and identity; adding an object changes its hash.
public protocol Model: AnyObject, SchemaDescribing, Observable, PersistableElement, Hashable, Identifiable, Codable,
  CustomStringConvertible, StoreObservable, PredicateArgument
where ObservationChange == ObjectChange {
  init(_$handle: ModelHandle)
  /// An unmanaged object with its defaults; required properties have no value yet.
  init(_$blank: Void)
  var _$raw: UnsafeMutablePointer<RawContext>? { get set }
  var _$key: Int64 { get set }
  var _$owner: AnyObject? { get set }
  /// Who observes single properties of the object while it is in no store; nil in one.
  var _$observers: UnmanagedObservers? { get set }
  /// A constant. The schema of one type may use another's name, never its schema: two static schemas that need
  /// each other would wait for each other for ever.
  static var _$name: String { get }
  static var _$keyPaths: [any PartialKeyPath<Self> & Sendable] { get }
  /// Puts an unmanaged object's values into a row.
  func _$fill(_ adoption: Adoption) throws(StoreError)
}

/// What a managed object is made of: its type's context in a store, its key, and the store it keeps alive.
public struct ModelHandle {
  /// The context of the object's type in its store.
  public let raw: UnsafeMutablePointer<RawContext>
  /// The object's key; 0 where there is no object.
  public let key: Int64
  /// What keeps the store open.
  public let owner: AnyObject

  @inlinable init(_ raw: UnsafeMutablePointer<RawContext>, _ key: Int64, _ owner: AnyObject) {
    self.raw = raw
    self.key = key
    self.owner = owner
  }
}

/// What identifies an object of a store in any context: its type and its key.
public struct ObjectID: Sendable, Hashable, Codable {
  /// The name of the type in the schema.
  public let type: String
  /// The key: never given to another object of the type.
  public let key: ObjectKey

  /// Names an object, whether there is one or not.
  public init(type: String, key: ObjectKey) {
    self.type = type
    self.key = key
  }
}
