import StoreValues

/// A struct whose values are kept in a store beside live objects; `@ValueModel` writes the conformance.
///
/// What comes out of the store is a copy of one version: sendable, as good on any thread, and never changed by anybody.
/// Who needs to follow one object, or to set one property of it, has `Live`, the class behind.
public protocol ValueModel: SchemaDescribing, Sendable {
  /// The live objects that keep the values.
  associatedtype Live: Model

  /// A copy of what an object is now.
  init(_$live object: Live)
  /// Sets every property of an object.
  func _$assign(to object: Live)
}

extension ValueModel {
  public static var _$schema: ObjectSchema { Live._$schema }
  public static var _$objectType: ObjectIdentifier { ObjectIdentifier(Live.self) }
  static var _$live: any Model.Type { Live.self }

  /// A copy of what a live object is now; the values of an object that is gone are zeroes.
  public init(_ object: Live) { self.init(_$live: object) }

  /// An unmanaged object with these values.
  public func unmanagedObject() -> Live {
    let object = Live(_$blank: ())
    _$assign(to: object)
    return object
  }
}
