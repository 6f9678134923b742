/// What replicas declare of their types to a server: for each class, what each of its properties holds.
///
/// A store's first declaration of a property stands. A replica whose own differs is refused before it sends anything: otherwise the log
/// would have values that the others cannot hold, for good.
///
/// ```swift
/// let store = try SyncSchema(["Note": ["text": "string"]]).joined(by: SyncSchema(["Note": ["tags": "set string"]]))
/// // Note: text, tags
/// ```
public struct SyncSchema: Hashable, Sendable {
  /// What the properties of each class hold: `int`, `list string`, `object Person`. Docs/SyncProtocol.md lists the words.
  public var classes: [Name: [Name: String]]

  /// Creates a declaration.
  public init(_ classes: [String: [String: String]] = [:]) {
    func named<V, R>(_ texts: [String: V], _ convert: (V) -> R) -> [Name: R] {
      texts.reduce(into: [:]) { named, entry in named[Name(entry.key)] = convert(entry.value) }
    }
    self.classes = named(classes) { named($0) { $0 } }
  }

  /// The maximal number of bytes of an encoded declaration.
  public static let mostBytes = 1 << 20

  /// Two declarations of one property that differ.
  public struct Difference: Error, Hashable, Sendable, CustomStringConvertible {
    /// The property: `Note.text`.
    public let property: String
    /// What it holds by the earlier declaration, and by the later one.
    public let earlier: String, later: String

    public var description: String { "'\(property)' is declared as '\(earlier)', and here as '\(later)'." }
  }

  /// This declaration together with a later one. Throws the first difference, in the order of the names.
  ///
  /// - Complexity: O(properties of the later one).
  public func joined(by later: SyncSchema) throws(Difference) -> SyncSchema {
    var joined = self
    for (name, properties) in SyncSchema.ordered(later.classes) {
      if joined.classes[name] == nil { joined.classes[name] = [:] }
      for (property, shape) in SyncSchema.ordered(properties) {
        if let earlier = classes[name]?[property], earlier != shape {
          throw Difference(property: "\(name.text).\(property.text)", earlier: earlier, later: shape)
        }
        joined.classes[name]?[property] = shape
      }
    }
    return joined
  }

  /// The declaration of some classes, and of those that they embed.
  public func part(_ names: some Sequence<Name>) -> SyncSchema {
    var part = SyncSchema()
    var waiting = Array(names)
    while let name = waiting.popLast() {
      guard part.classes[name] == nil, let properties = classes[name] else { continue }
      part.classes[name] = properties
      for shape in properties.values {
        let words = shape.split(separator: " ")
        if words.dropLast().last == "embedded", let embedded = words.last { waiting.append(Name(String(embedded))) }
      }
    }
    return part
  }

  // MARK: bytes

  /// The names and shapes in the order of their bytes, so that equal declarations have equal bytes.
  public var encoded: [UInt8] {
    var writer = ByteWriter()
    writer.put(classes.count)
    for (name, properties) in SyncSchema.ordered(classes) {
      writer.put(name.text.utf8)
      writer.put(properties.count)
      for (property, shape) in SyncSchema.ordered(properties) {
        writer.put(property.text.utf8)
        writer.put(shape.utf8)
      }
    }
    return writer.bytes
  }

  private static func ordered<V>(_ names: [Name: V]) -> [(key: Name, value: V)] {
    names.sorted { $0.key.text.utf8.lexicographicallyPrecedes($1.key.text.utf8) }
  }

  /// Decodes a declaration from arbitrary bytes: safe, and linear in their number.
  public init(decoding bytes: [UInt8]) throws(CodingError) {
    guard bytes.count <= SyncSchema.mostBytes else { throw CodingError(.count, at: 0) }
    self.init()
    var reader = ByteReader(bytes)
    for _ in 0..<(try reader.count(of: 2)) {
      let name = Name(try reader.text())
      guard classes[name] == nil else { throw reader.error(.value) }
      var properties: [Name: String] = [:]
      for _ in 0..<(try reader.count(of: 2)) {
        let property = Name(try reader.text())
        guard properties.updateValue(try reader.text(), forKey: property) == nil else { throw reader.error(.value) }
      }
      classes[name] = properties
    }
    try reader.end()
  }
}
