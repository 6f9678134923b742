import StorageInterface
import StoreValues

/// An error in a query, found while parsing, binding or evaluating it. No text and no data ever stop the process.
public struct QueryError: Error, Sendable {
  /// The kind of error. Open: later versions add codes, so a switch over it needs a default.
  public struct Code: RawRepresentable, Hashable, Sendable {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
  }

  /// The kind of error, for programs.
  public var code: Code
  /// One sentence: the error, with the names that matter. Given longer than 8,000 bytes, it lacks its middle.
  public var message: String
  /// One sentence: how to fix it.
  public var remedy: String
  /// The offending path or operand as written; nil if the error concerns the query as a whole.
  public var path: String?
  /// The position in the text, in UTF-8 bytes from its beginning; nil if the query had no text.
  public var position: Int?
  /// For `.storage`: the engine's error.
  public var cause: StorageError?

  /// For code that parses, binds or runs queries by its own means.
  public init(
    _ code: Code, _ message: String, remedy: String = "", path: String? = nil, position: Int? = nil,
    cause: StorageError? = nil
  ) {
    self.code = code
    self.message = ErrorText.bounded(message)
    self.remedy = ErrorText.bounded(remedy)
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
  /// The two sides cannot be compared, or a property has the wrong type for its place.
  public static let typeMismatch = Self(rawValue: "typeMismatch")
  /// The operator does not exist for this type.
  public static let badOperator = Self(rawValue: "badOperator")
  /// `BETWEEN` without exactly two bounds, a negative limit, and the like.
  public static let badArgument = Self(rawValue: "badArgument")
  /// Part of the language, but not supported by this engine.
  public static let notSupported = Self(rawValue: "notSupported")
  /// Nested more deeply than the engine supports.
  public static let tooComplex = Self(rawValue: "tooComplex")
  /// A sum of integers overflowed Int64.
  public static let overflow = Self(rawValue: "overflow")
  /// The storage engine failed; see `cause`.
  public static let storage = Self(rawValue: "storage")

  /// A quantifier or collection operator on something that is not a collection.
  public static let needsCollection = Self(rawValue: "needsCollection")
  /// The text does not follow the grammar.
  public static let syntax = Self(rawValue: "syntax")
  /// The text refers to an argument that was not given.
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
