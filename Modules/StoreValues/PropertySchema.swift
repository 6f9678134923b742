#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a property is: a scalar, a collection, or the inverse of another property.
public enum PropertyKind: Sendable, Hashable, Codable {
  /// One value. `.link` is a to-one relationship; its type is `PropertySchema.target`.
  case scalar(ValueType)
  /// An ordered list; duplicates allowed.
  case list(ValueType)
  /// A set: each value once, as `Value.order(to:)` says it (of 1 and 1.0 in a mixed set, or 0.0 and −0.0, the one that
  /// came first stays). Iterated in that order, null first.
  case set(ValueType)
  /// Values by keys, which are strings. Iterated in the order of the keys' UTF-8 bytes.
  case map(ValueType)
  /// The objects whose property `property` of type `origin` points here. Not stored: read from backlinks.
  case linkingObjects(origin: String, property: String)
}

/// One property of a model, as declared. The names of properties identify them; storage gives them
/// numbers in its `Catalog`.
public struct PropertySchema: Sendable, Hashable, Codable {
  /// What identifies the property in its type.
  public var name: String
  /// What it holds: one value, a collection, or an inverse.
  public var kind: PropertyKind
  /// Whether the scalar, or the collection's element, may be null. To-one links always may; mixed properties are
  /// declared optional. Elements of sets of links never are; values of maps of links may be.
  public var isOptional: Bool
  /// The name of the type a link or a collection of links points to; nil otherwise.
  public var target: String?
  /// Whether it identifies an object in its type. It has a unique index then, and is set once.
  public var isPrimaryKey: Bool
  /// Whether an index is kept, for conditions and orders.
  public var isIndexed: Bool
  /// Whether no two objects may have the same value: a unique index. Null may come any number of times.
  public var isUnique: Bool
  /// The value of the property for objects stored before the property existed, when it is not optional.
  /// nil: the zero of the type (0, false, "", empty data, the reference date, the zero UUID or ObjectId).
  public var defaultValue: DefaultValue?
  /// What becomes of the objects a relationship points to; nil is `.nullify`.
  public var deleteRule: DeleteRule?
  /// How the property follows from others; nil for properties that are set.
  public var derivation: Derivation?
  /// What an enum has cases for, ascending; nil where every value of the type is one.
  public var cases: [DefaultValue]?
  /// Nil where it is false: catalogs without such an index stay as they were written.
  private var fullText: Bool?

  /// Whether an index of the words of the text is kept, which answers `TEXT`.
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
  /// One value, or a link to one object.
  public var isScalar: Bool { if case .scalar = kind { true } else { false } }
  /// Values in an order that the program gives them.
  public var isList: Bool { if case .list = kind { true } else { false } }
  /// Values that are there once, in their own order.
  public var isSet: Bool { if case .set = kind { true } else { false } }
  /// Values by keys.
  public var isMap: Bool { if case .map = kind { true } else { false } }
  /// A list, set or map.
  public var isCollection: Bool { isList || isSet || isMap }
  /// What is computed from the other end of a relationship.
  public var isInverse: Bool { if case .linkingObjects = kind { true } else { false } }
  /// Whether the column may hold null: the scalar, or an element of the collection.
  public var mayBeNull: Bool { isOptional || valueType == .mixed || (isScalar && valueType == .link) }
  /// A to-one link or a collection of links. Has backlinks, as mixed properties have (`ValueType.mayLink`).
  public var isRelationship: Bool { valueType == .link }
  /// Inverses are computed; everything else has a column.
  public var isStored: Bool { !isInverse }
}

/// The default of a property in a form that can be kept in a file: a word or bytes.
public enum DefaultValue: Sendable, Hashable, Codable {
  case word(Int64)
  case bytes([UInt8])
}

extension DefaultValue: Comparable {
  /// In the order of the words, or of the bytes; words first.
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
  /// nil for null: a property whose default is null needs none, a mixed one never has any.
  public init?(_ value: Value) {
    if let word = value.word {
      self = .word(word)
    } else if let bytes = value.withBytes({ bytes in bytes.map { Array($0) } }) {
      self = .bytes(bytes)
    } else {
      return nil
    }
  }

  /// The value as a scalar of `type`; the type's zero when the two do not go together.
  public func value(as type: ValueType) -> Value {
    switch self {
    case .word(let word): Value(word: word, type: type) ?? Value.zero(of: type)
    case .bytes(let bytes): bytes.withUnsafeBytes { Value(bytes: $0, type: type) } ?? Value.zero(of: type)
    }
  }
}

extension Value {
  /// What a required property reads as where nothing was ever stored. Null for links.
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
