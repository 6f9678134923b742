import Foundation

/// Makes strings equal that differ only in what the folding ignores: simple case folding, and decomposition without marks. The
/// same on every system and in every locale.
package enum TextFolding {
  /// Invalid UTF-8 becomes U+FFFD, which is harmless because both sides are folded.
  package static func fold(_ bytes: UnsafeRawBufferPointer, _ folding: Folding) -> [UInt8] {
    var isASCII: UInt8 = 0
    for byte in bytes { isASCII |= byte }
    if isASCII < 0x80 {
      if !folding.ignoresCase { return Array(bytes) }
      return bytes.map { (65...90).contains($0) ? $0 | 32 : $0 }
    }
    var text = String(decoding: bytes, as: UTF8.self)
    if folding.ignoresDiacritics { text = text.decomposedStringWithCanonicalMapping }
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count)
    for scalar in text.unicodeScalars {
      if folding.ignoresDiacritics, isMark(scalar) { continue }
      let folded = folding.ignoresCase ? simpleCase(scalar) : scalar
      result.append(contentsOf: String(folded).utf8)
    }
    return result
  }

  static func isMark(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark: true
    default: false
    }
  }

  /// The scalar's simple case folding: by way of its capital, so that the two small sigmas are equal. Mappings to several
  /// scalars are ignored, and the Turkish letters fold only among themselves.
  package static func simpleCase(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    if scalar.value < 0x80 { return (65...90).contains(scalar.value) ? Unicode.Scalar(scalar.value | 32) ?? scalar : scalar }
    if scalar.value == 0x130 || scalar.value == 0x131 { return scalar }
    return single(single(scalar, \.uppercaseMapping), \.lowercaseMapping)
  }

  private static func single(_ scalar: Unicode.Scalar, _ mapping: KeyPath<Unicode.Scalar.Properties, String>) -> Unicode.Scalar {
    let mapped = scalar.properties[keyPath: mapping].unicodeScalars
    guard let first = mapped.first, mapped.count == 1 else { return scalar }
    return first
  }
}
