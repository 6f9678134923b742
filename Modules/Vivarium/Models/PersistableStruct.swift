import Foundation
import Storage
import Values

/// A `Codable` struct kept as one attribute: as JSON text with sorted keys, so that equal values are equal text and any tool
/// can read it.
///
/// ```swift
/// struct Address: PersistableStruct {
///   var street = ""
///   var city = ""
/// }
/// ```
///
/// Every field needs a default: a field that a stored value does not have yet reads as that, and `init()` is what a property
/// is that was never set. A stored text that cannot be read as the struct reads as nil where the property is optional, else
/// as `init()`. Setting the property writes it whole; setting one field of it, too.
public protocol PersistableStruct: Codable, Scalar {
  init()
}

extension PersistableStruct {
  public static var _$type: ValueType { .string }
  public static var _$zero: Self { Self() }

  public static func _$decode(_ vector: ColumnVector, _ row: Int) -> Self? {
    Self(json: Data(vector.bytes(at: row)))
  }

  public func _$put(_ row: RowBuffer, _ slot: Int) { json._$put(row, slot) }

  public init?(persisted value: Value) {
    guard case .string(let text) = value, let made = Self(json: Data(text.utf8)) else { return nil }
    self = made
  }

  public var persistedValue: Value { .string(json) }

  /// The text that is stored. A value that its own `encode(to:)` refuses is stored as an empty object.
  private var json: String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return (try? encoder.encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
  }

  /// Fields that are missing in the text have the defaults of `init()`.
  private init?(json: Data) {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    if let made = try? decoder.decode(Self.self, from: json) {
      self = made
      return
    }
    // Older text: its fields over the defaults'.
    guard let stored = try? JSONDecoder().decode(JSONNode.self, from: json), case .object(let fields) = stored,
      let defaults = try? JSONDecoder().decode(JSONNode.self, from: Data(Self().json.utf8)),
      case .object(let others) = defaults,
      let merged = try? JSONEncoder().encode(JSONNode.object(others.merging(fields) { $1 })),
      let made = try? decoder.decode(Self.self, from: merged)
    else { return nil }
    self = made
  }
}
