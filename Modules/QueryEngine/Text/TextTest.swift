import QueryModel

/// A test of text that bytes alone do not settle: with folding, with a pattern, with a regular expression, by its words.
/// The constant side was prepared when the query was bound.
struct TextTest: Sendable {
  private enum Kind: Sendable {
    case bytes(BytesTest)
    case like(LikePattern)
    case expression(LinearRegex)
    case words(TextQuery)
  }

  private let kind: Kind
  private let folding: Folding?

  /// nil for operators that do not test text. The constant is not null.
  init?(_ comparator: ComparisonOperator, _ constant: [UInt8], _ folding: Folding?) throws(QueryError) {
    let needle = folding.map { folding in constant.withUnsafeBytes { TextFolding.fold($0, folding) } } ?? constant
    self.folding = folding
    switch comparator {
    case .equal: kind = .bytes(.equal(needle))
    case .less: kind = .bytes(.range(BytesRange(upper: needle, includesUpper: false)))
    case .lessOrEqual: kind = .bytes(.range(BytesRange(upper: needle)))
    case .greater: kind = .bytes(.range(BytesRange(lower: needle, includesLower: false)))
    case .greaterOrEqual: kind = .bytes(.range(BytesRange(lower: needle)))
    case .contains: kind = .bytes(needle.isEmpty ? .range(.all) : .contains(needle))
    case .beginsWith: kind = .bytes(needle.isEmpty ? .range(.all) : .prefix(needle))
    case .endsWith: kind = .bytes(needle.isEmpty ? .range(.all) : .suffix(needle))
    case .like: kind = LikePattern.simple(needle).map(Kind.bytes) ?? .like(LikePattern(needle))
    case .matches:
      // Case is folded while matching: `\D` in small letters would be another class.
      let plain = folding?.ignoresDiacritics == true
        ? constant.withUnsafeBytes { TextFolding.fold($0, Folding(ignoresCase: false, ignoresDiacritics: true)) } : constant
      kind = .expression(try LinearRegex(String(decoding: plain, as: UTF8.self), ignoresCase: folding?.ignoresCase ?? false))
    case .text: kind = .words(try TextQuery(asked: String(decoding: constant, as: UTF8.self)))
    case .notEqual, .in, .between: return nil
    }
  }

  /// The test as one of bytes, where folding has no part in it.
  var plain: BytesTest? {
    if folding == nil, case .bytes(let test) = kind { return test }
    return nil
  }

  /// What is looked for, where it is words.
  var words: TextQuery? { if case .words(let query) = kind { query } else { nil } }

  func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    guard let folding else { return matchesFolded(bytes) }
    if case .expression = kind, !folding.ignoresDiacritics { return matchesFolded(bytes) }
    return TextFolding.fold(bytes, folding).withUnsafeBytes { matchesFolded($0) }
  }

  private func matchesFolded(_ bytes: UnsafeRawBufferPointer) -> Bool {
    switch kind {
    case .bytes(let test): test.matches(bytes)
    case .like(let pattern): pattern.matches(bytes)
    case .expression(let expression): expression.matches(bytes)
    case .words(let query): query.matches(bytes)
    }
  }
}

extension TextQuery {
  /// With what is wrong said as of a query.
  init(asked text: String) throws(QueryError) {
    do throws(TextQueryError) { try self.init(text) } catch {
      throw QueryError(
        .badArgument, "TEXT cannot look for '\(text.prefix(80))': \(error.message)", remedy: error.remedy, path: String(text.prefix(80)))
    }
  }
}
