#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The kind of a property: a scalar, a collection, or the inverse of another property.
public enum PropertyKind: Sendable, Hashable, Codable {
  /// One value. `.link` is a to-one relationship; its type is `PropertySchema.target`.
  case scalar(ValueType)
  /// An ordered list; duplicates allowed.
  case list(ValueType)
  /// A set: distinct values, by `Value.order(to:)` (of 1 and 1.0 in a mixed set, or 0.0 and −0.0, the first one stays).
  /// Iterated in that order, null first.
  case set(ValueType)
  /// Values by string keys. Iterated in the order of the keys' UTF-8 bytes.
  case map(ValueType)
  /// The objects whose property `property` of type `origin` points here. Not stored: read from backlinks.
  case linkingObjects(origin: String, property: String)
}

/// One property of a model, as declared. Its name identifies it; storage assigns it a number in its `Catalog`.
public struct PropertySchema: Sendable, Hashable, Codable {
  /// Identifies the property in its type.
  public var name: String
  /// One value, a collection, or an inverse.
  public var kind: PropertyKind
  /// Whether the scalar, or the collection's element, may be null. To-one links always may; mixed properties must be declared
  /// optional. Elements of sets of links never may; values of maps of links may.
  public var isOptional: Bool
  /// The name of the type a link or a collection of links points to; nil otherwise.
  public var target: String?
  /// Whether it identifies an object in its type. It then has a unique index, and is set once.
  public var isPrimaryKey: Bool
  /// Whether it is indexed, for conditions and orders.
  public var isIndexed: Bool
  /// Whether no two objects may have the same value: a unique index. Null may occur any number of times.
  public var isUnique: Bool
  /// The value for objects stored before the property existed, if it is not optional. nil: the zero of the type (0, false, "",
  /// empty data, the reference date, the zero UUID or ObjectId).
  public var defaultValue: DefaultValue?
  /// The delete rule of a relationship; nil is `.nullify`.
  public var deleteRule: DeleteRule?
  /// How the property is derived from others; nil for properties that are set.
  public var derivation: Derivation?
  /// The raw values of an enum's cases, ascending; nil if every value of the type is valid.
  public var cases: [DefaultValue]?
  /// Nil instead of false, so that catalogs without such an index are written as before.
  private var fullText: Bool?

  /// Whether an index of the text's words is kept, which answers `TEXT`.
  public var isFullText: Bool {
    get { fullText ?? false }
    set { fullText = newValue ? true : nil }
  }

  public init(
    name: String, kind: PropertyKind, isOptional: Bool = false, target: String? = nil,
    isPrimaryKey: Bool = false, isIndexed: Bool = false, isUnique: Bool = false,
    defaultValue: DefaultValue? = nil, deleteRule: DeleteRule? = nil, derivation: Derivation? = nil,
    isFullText: Bool = false, cases: [DefaultValue]? = nil
  ) {
    self.name = name
    self.kind = kind
    self.isOptional = isOptional
    self.target = target
    self.isPrimaryKey = isPrimaryKey
    self.isIndexed = isIndexed
    self.isUnique = isUnique
    self.defaultValue = defaultValue
    self.deleteRule = deleteRule
    self.derivation = derivation
    self.cases = cases
    self.isFullText = isFullText
  }
}

extension PropertySchema {
  /// The type of the scalar or of the collection's elements; nil for inverses.
  public var valueType: ValueType? {
    switch kind {
    case .scalar(let type), .list(let type), .set(let type), .map(let type): type
    case .linkingObjects: nil
    }
  }
  /// Whether it is one value, or a link to one object.
  public var isScalar: Bool { if case .scalar = kind { true } else { false } }
  /// Whether it is a list: values in the program's order.
  public var isList: Bool { if case .list = kind { true } else { false } }
  /// Whether it is a set: distinct values in their own order.
  public var isSet: Bool { if case .set = kind { true } else { false } }
  /// Whether it is a map: values by keys.
  public var isMap: Bool { if case .map = kind { true } else { false } }
  /// Whether it is a list, set or map.
  public var isCollection: Bool { isList || isSet || isMap }
  /// Whether it is an inverse: computed from the other end of a relationship.
  public var isInverse: Bool { if case .linkingObjects = kind { true } else { false } }
  /// Whether the column may hold null: the scalar, or an element of the collection.
  public var mayBeNull: Bool { isOptional || valueType == .mixed || (isScalar && valueType == .link) }
  /// Whether it is a to-one link or a collection of links, which have backlinks, as mixed properties do (`ValueType.mayLink`).
  public var isRelationship: Bool { valueType == .link }
  /// Whether it has a column: true of everything but inverses, which are computed.
  public var isStored: Bool { !isInverse }
}

/// The default of a property in the form stored in a file: a word or bytes.
public enum DefaultValue: Sendable, Hashable, Codable {
  case word(Int64)
  case bytes([UInt8])
}

extension DefaultValue: Comparable {
  /// Words first, by value; then bytes, in their order.
  public static func < (a: Self, b: Self) -> Bool {
    switch (a, b) {
    case (.word(let a), .word(let b)): a < b
    case (.word, .bytes): true
    case (.bytes, .word): false
    case (.bytes(let a), .bytes(let b)): a.lexicographicallyPrecedes(b)
    }
  }
}

extension DefaultValue {
  /// nil for null: a property whose default is null needs none, and a mixed one never has one.
  public init?(_ value: Value) {
    if let word = value.word {
      self = .word(word)
    } else if let bytes = value.withBytes({ bytes in bytes.map { Array($0) } }) {
      self = .bytes(bytes)
    } else {
      return nil
    }
  }

  /// The value as a scalar of `type`; the type's zero if it does not fit.
  public func value(as type: ValueType) -> Value {
    switch self {
    case .word(let word): Value(word: word, type: type) ?? Value.zero(of: type)
    case .bytes(let bytes): bytes.withUnsafeBytes { Value(bytes: $0, type: type) } ?? Value.zero(of: type)
    }
  }
}

extension Value {
  /// The value of a required property for which none was stored. Null for links.
  public static func zero(of type: ValueType) -> Value {
    switch type {
    case .string: .string("")
    case .data: .data(.init())
    case .uuid: .uuid(.init(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
    case .objectId: .objectId(.zero)
    case .decimal: .decimal(.zero)
    case .link, .mixed: .null
    default: Value(word: 0, type: type) ?? .null
    }
  }
}
