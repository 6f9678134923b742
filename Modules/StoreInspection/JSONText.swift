import StoreValues

/// Writes JSON (RFC 8259) as bytes. Values that JSON numbers cannot represent (NaN and the infinities) become strings.
enum JSONText {
  static func append(_ field: ShownField, to bytes: inout [UInt8]) {
    switch field {
    case .list(let elements, _):
      bytes.append(UInt8(ascii: "["))
      for (position, element) in elements.enumerated() {
        if position > 0 { bytes.append(UInt8(ascii: ",")) }
        append(element, to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .map(let entries, _):
      bytes.append(UInt8(ascii: "{"))
      for (position, entry) in entries.enumerated() {
        if position > 0 { bytes.append(UInt8(ascii: ",")) }
        append(entry.key, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(entry.value, to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    case .object where field.objectIdentifier != nil:
      bytes += "{\"\(GraphText.reference)\":".utf8
      append(field.objectIdentifier ?? "", to: &bytes)
      bytes.append(UInt8(ascii: "}"))
    case .object, .value:
      guard let text = field.scalarText else {
        bytes.append(contentsOf: "null".utf8)
        return
      }
      if field.isBareInJSON { bytes.append(contentsOf: text.utf8) } else { append(text, to: &bytes) }
    }
  }

  /// Appends a string in quotes. Characters that a terminal would interpret become `\uXXXX`, which reads as the same text.
  static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      append(plain: text.utf8, to: &bytes)
    } else {
      for scalar in text.unicodeScalars {
        guard scalar.value >= 0x80, DisplayText.isUnsafe(scalar) else {
          append(plain: String(scalar).utf8, to: &bytes)
          continue
        }
        append(escaped: scalar, to: &bytes)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends JSON of another encoder, which escapes less: what it leaves that a terminal would interpret is in strings and names.
  static func append(json: String, to bytes: inout [UInt8]) {
    for scalar in json.unicodeScalars {
      if scalar.value >= 0x7F, DisplayText.isUnsafe(scalar) {
        append(escaped: scalar, to: &bytes)
      } else {
        bytes.append(contentsOf: String(scalar).utf8)
      }
    }
  }

  /// Every scalar that is unsafe has four hexadecimal digits at most.
  private static func append(escaped scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: "\\u".utf8)
    for shift in [12, 8, 4, 0] { bytes.append(hexDigit(UInt8(truncatingIfNeeded: scalar.value >> UInt32(shift)) & 15)) }
  }

  private static func append(plain text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0x0A: bytes.append(contentsOf: "\\n".utf8)
      case 0x0D: bytes.append(contentsOf: "\\r".utf8)
      case 0x09: bytes.append(contentsOf: "\\t".utf8)
      case 0..<0x20, 0x7F:
        bytes.append(contentsOf: "\\u00".utf8)
        bytes.append(hexDigit(byte >> 4))
        bytes.append(hexDigit(byte & 15))
      default: bytes.append(byte)
      }
    }
  }

  private static func hexDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}

extension ShownField {
  /// Whether JSON writes the value without quotes: Bools and finite numbers.
  fileprivate var isBareInJSON: Bool {
    guard case .value(let value) = self else { return false }
    return switch value {
    case .bool, .int: true
    case .float(let x): x.isFinite
    case .double(let x): x.isFinite
    default: false
    }
  }
}
