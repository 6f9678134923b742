/// The names with which encoded objects refer to each other. No property can be called so.
enum GraphName {
  /// The number of an object in its document, where others refer to it.
  static let id = "$id"
  /// Instead of an object: the number of one in the document, or the `objectIdentifier` of one that was left out.
  static let reference = "$ref"
}

/// A property's name as a coding key.
struct PropertyName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }

  init(_ name: String) { stringValue = name }
  init?(stringValue: String) { self.init(stringValue) }
  init?(intValue: Int) { nil }
}
