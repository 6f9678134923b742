import StoreValues

/// One token of a query's text.
struct Token {
  enum Kind: Hashable {
    /// A name, or a keyword where one is allowed. `isEscaped` names are never keywords.
    case name(String, isEscaped: Bool)
    /// A component that begins with `@`.
    case at(String)
    case constant(Value)
    /// A literal of a type that no property can have.
    case unsupported(String)
    /// An operator or a bracket.
    case symbol(String)
    /// `$3` and `$K3`; `%@`, `%d` and the like, and `%K`, numbered in their order.
    case argument(Int, isPath: Bool)
    case end
  }

  let kind: Kind
  /// In UTF-8 bytes from the text's beginning.
  let start: Int
  let end: Int
}

extension Token {
  /// The name in lower case, if it can be a keyword.
  var keyword: String? {
    if case .name(let name, isEscaped: false) = kind { return name.lowercased() }
    return nil
  }

  func isSymbol(_ symbol: String) -> Bool { kind == .symbol(symbol) }
}
