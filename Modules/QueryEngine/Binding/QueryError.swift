import StorageInterface

/// What is wrong with a query, found while it is read, bound to a schema or computed; never a reason to stop the
/// process, whatever the text or the data was.
public struct QueryError: Error, Sendable {
  /// What happened. Open: later versions add codes, so code that switches needs a default.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// What is wrong, for code.
  public var code: Code
  /// One sentence: what is wrong, with the names that matter.
  public var message: String
  /// One sentence: what helps.
  public var remedy: String
  /// The offending path or operand as it was written; nil when it is the query as a whole.
  public var path: String?
  /// Where in the text, in UTF-8 bytes from its beginning; nil when the query had no text.
  public var position: Int?
  /// For `.storage`: what the engine said.
  public var cause: StorageError?

  /// For whoever reads, binds or runs queries in a way of their own.
  public init(
    _ code: Code, _ message: String, remedy: String = "", path: String? = nil, position: Int? = nil,
    cause: StorageError? = nil
  ) {
    self.code = code
    self.message = message
    self.remedy = remedy
    self.path = path
    self.position = position
    self.cause = cause
  }
}

extension QueryError.Code {
  /// The query names an object of another store.
  public static let wrongStore = Self(rawValue: "wrongStore")
  /// The store has no type of that name.
  public static let unknownType = Self(rawValue: "unknownType")
  /// The type has no property of that name.
  public static let unknownProperty = Self(rawValue: "unknownProperty")
  /// The two sides cannot be compared, or a property is not what its place needs.
  public static let typeMismatch = Self(rawValue: "typeMismatch")
  /// The operator does not exist for this type.
  public static let badOperator = Self(rawValue: "badOperator")
  /// `BETWEEN` without exactly two bounds, a negative limit, and the like.
  public static let badArgument = Self(rawValue: "badArgument")
  /// Part of the language, and not of this engine.
  public static let notSupported = Self(rawValue: "notSupported")
  /// Deeper nested than the engine follows.
  public static let tooComplex = Self(rawValue: "tooComplex")
  /// A sum of integers left the range of Int64.
  public static let overflow = Self(rawValue: "overflow")
  /// The engine below failed; see `cause`.
  public static let storage = Self(rawValue: "storage")

  /// A quantifier or collection operator on something that is no collection.
  public static let needsCollection = Self(rawValue: "needsCollection")
  /// The text does not follow the grammar.
  public static let syntax = Self(rawValue: "syntax")
  /// The text asks for an argument that was not given.
  public static let missingArgument = Self(rawValue: "missingArgument")
}

extension QueryError {
  init(_ cause: StorageError) {
    self.init(.storage, cause.message, remedy: cause.remedy, cause: cause)
  }
}

extension QueryError: CustomStringConvertible {
  public var description: String {
    var text = "\(code.rawValue): \(message)"
    if let position { text += " At byte \(position)." }
    if !remedy.isEmpty { text += " \(remedy)" }
    return text
  }
}
