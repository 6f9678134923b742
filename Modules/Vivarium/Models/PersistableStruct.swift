import Foundation
import StorageInterface
import StoreValues

/// A `Codable` struct kept as one attribute: as a mixed value, a map of its fields, so that conditions can look into it.
///
/// ```swift
/// struct Address: PersistableStruct {
///   var street = ""
///   var city = ""
/// }
/// @Model final class Company { var address = Address() }
/// try store.objects(Company.self).filter("address.city == %@", "Ghent")
/// ```
///
/// In conditions a field is called as its coding key, and follows the rules of mixed values. Every field needs a default: a
/// field that a stored value does not have yet reads as that, and `init()` is what a property is that was never set.
///
/// Fields that the struct does not know, of a newer program, stay when the property or a field of it is set. A
/// stored value that cannot be read as the struct reads as nil where the property is optional, else as `init()`, and is not written over:
/// setting the property is refused with `.typeMismatch` until a migration mends it, or `setValue(_:forKey:)` or nil replaces it. So is a
/// value whose own `encode(to:)` throws; the error is the underlying one.
public protocol PersistableStruct: Codable, Scalar {
  /// The value of a property that was never set.
  init()
}

extension PersistableStruct {
  public static var _$type: ValueType { .mixed }
  /// As every mixed property is: null, where nothing was stored, reads as `init()`.
  public static var _$isOptional: Bool { true }
  public static var _$zero: Self { Self() }

  public static func _$decode(_ vector: ColumnVector, _ row: Int) -> Self? {
    Self(persisted: vector.value(at: row, as: .mixed))
  }

  public func _$put(_ row: RowBuffer, _ slot: Int) { row.set(slot, persistedValue) }

  public init?(persisted value: Value) {
    if value.isNull { return nil }
    if let made = try? ValueDecoder.decode(Self.self, from: value) {
      self = made
      return
    }
    // An older value: its fields over the defaults'. Or JSON, which is how a text becomes a struct in a migration.
    guard let fields = Self.fields(of: value), case .map(let defaults) = Self().persistedValue,
      let made = try? ValueDecoder.decode(Self.self, from: .map(ValueMap(defaults.entries + fields.entries)))
    else { return nil }
    self = made
  }

  private static func fields(of value: Value) -> ValueMap? {
    switch value {
    case .map(let fields): return fields
    case .string(let text):
      guard let node = try? JSONNode(Data(text.utf8)), case .map(let fields) = Value(mixed: node) else { return nil }
      return fields
    default: return nil
    }
  }

  /// What conditions compare with. A value that its own `encode(to:)` refuses is an empty map here; a store refuses it.
  public var persistedValue: Value { (try? ValueEncoder.value(of: self)) ?? .map(ValueMap()) }
}
