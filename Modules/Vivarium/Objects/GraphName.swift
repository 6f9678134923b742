/// The keys with which encoded objects refer to each other. No property can have such a name.
enum GraphName {
  /// The number of an object in its document, if others refer to it.
  static let id = "$id"
  /// In place of an object: the number of an object in the document, or the `objectIdentifier` of one that was left out.
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
