/// The keys with which encoded objects refer to each other. No property can have such a name.
enum GraphName {
  /// The number of an object in its document, if others refer to it.
  static let id = "$id"
  /// In place of an object: the number of an object in the document, or the `objectIdentifier` of one that was left out.
  static let reference = "$ref"
  /// Around a map in a mixed value that would be read as a reference, or as such a map: `{"$map": {"$ref": "Dog-17"}}` is a map of the
  /// program's own, with the key `$ref`.
  static let map = "$map"

  /// The name of the type in an `objectIdentifier`; nil for a text that cannot be one.
  static func type(in identifier: String) -> String? {
    // A key may begin with a mark that is one character with the hyphen.
    guard let hyphen = identifier.unicodeScalars.firstIndex(of: "-") else { return nil }
    let name = identifier[..<hyphen]
    guard let first = name.first, first.isLetter || first == "_", name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" })
    else { return nil }
    return String(name)
  }
}

/// A property's name as a coding key.
struct PropertyName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}
