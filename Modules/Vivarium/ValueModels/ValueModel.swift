import StoreValues

/// A struct whose values are kept in a store beside live objects; `@ValueModel` generates the conformance.
///
/// A value read from the store is a copy from one version: sendable, usable on any thread, and never changed. To follow one object,
/// or set single properties of it, use the underlying class, `Live`.
public protocol ValueModel: SchemaDescribing, Sendable {
  /// The class of the live objects that hold the values.
  associatedtype Live: Model

  /// Copies the object's current values.
  init(_$live object: Live)
  /// Sets every property of an object.
  func _$assign(to object: Live)
}

extension ValueModel {
  public static var _$schema: ObjectSchema { Live._$schema }
  public static var _$objectType: ObjectIdentifier { ObjectIdentifier(Live.self) }
  static var _$live: any Model.Type { Live.self }

  /// Copies a live object's current values; those of a deleted object are zeroes.
  public init(_ object: Live) { self.init(_$live: object) }

  /// An unmanaged object with these values.
  public func unmanagedObject() -> Live {
    let object = Live(_$blank: ())
    _$assign(to: object)
    return object
  }
}
