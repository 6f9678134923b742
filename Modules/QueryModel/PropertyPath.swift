/// A path of property names from an object: `age`, `best.name`, `dogs.name`.
///
/// A path is only a description; binding a query to a schema decides whether it exists and what a collection on the way means.
/// Components that begin with `@` or `[` are operators and positions: `@count`, `[0]`, `[first]`, `[*]`, `['key']`.
public struct PropertyPath: Sendable, Hashable, Codable {
  /// From the object outwards; not validated here.
  public var components: [String]
  /// Its position in the query's text.
  package var place = TextPlace()

  private enum CodingKeys: CodingKey { case components }

  /// A path with these components; `PropertyPath("a.b")` splits a text.
  public init(_ components: [String]) { self.components = components }
  /// Splits at dots: `PropertyPath("best.name")`.
  public init(_ text: String) { components = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init) }
}

extension PropertyPath {
  /// Compares by bytes, because keys of maps differ even if they look the same.
  public static func == (a: Self, b: Self) -> Bool {
    a.components.count == b.components.count
      && zip(a.components, b.components).allSatisfy { $0.utf8.elementsEqual($1.utf8) }
  }
}

extension PropertyPath {
  /// The key in a component `['key']`; nil for another component. By bytes: a key may begin or end with a character that is one with
  /// the quote beside it.
  package static func key(in component: String) -> String? {
    let bytes = component.utf8
    guard bytes.count >= 4, bytes.starts(with: "['".utf8), bytes.suffix(2).elementsEqual("']".utf8) else { return nil }
    return String(decoding: bytes.dropFirst(2).dropLast(2), as: UTF8.self)
  }
}

extension PropertyPath: CustomStringConvertible {
  /// The path in the grammar of conditions.
  public var description: String {
    var text = ""
    for (i, component) in components.enumerated() {
      if let key = PropertyPath.key(in: component) {
        text += "[" + Literal.quoted(key) + "]"
      } else if component.hasPrefix("["), component.hasSuffix("]") {
        text += component
      } else {
        if i > 0 { text += "." }
        text += component.hasPrefix("@") ? component : PropertyPath.name(component, isFirst: i == 0, isAlone: components.count == 1)
      }
    }
    return text
  }

  /// Marks a name that would be taken for a keyword.
  private static func name(_ name: String, isFirst: Bool, isAlone: Bool) -> String {
    let text = escaped(name)
    // A single component with a dollar would be a variable.
    let isMarked = isFirst && isReserved(name) || isAlone && name.hasPrefix("$") || isArgument(name)
    return isMarked ? "#" + text : text
  }

  /// Whether it would be taken for a numbered argument: `$3`, `$K3`.
  private static func isArgument(_ name: String) -> Bool {
    guard name.hasPrefix("$") else { return false }
    let rest = name.utf8.dropFirst(name.hasPrefix("$K") ? 2 : 1)
    return rest.first.map { (48...57).contains($0) } ?? false
  }

  /// Words with another meaning at the beginning of a path.
  package static let reserved: Set<String> = [
    "and", "or", "not", "any", "some", "all", "none", "truepredicate", "falsepredicate", "true", "false", "yes", "no",
    "null", "nil", "nan", "inf", "infinity",
  ]

  private static func isReserved(_ name: String) -> Bool {
    if reserved.contains(name.lowercased()) || (name != "SELF" && name.lowercased() == "self") { return true }
    // Names that could be literals: T0:0, L0:1, B64"…".
    let bytes = Array(name.utf8)
    if let first = bytes.first, bytes.count > 1, first == UInt8(ascii: "T") || first == UInt8(ascii: "L") {
      return (48...57).contains(bytes[1])
    }
    return name.lowercased() == "b64"
  }

  /// Puts a backslash before each character that would end a name.
  package static func escaped(_ name: String) -> String {
    var text = ""
    for (i, scalar) in name.unicodeScalars.enumerated() {
      switch scalar {
      case "a"..."z", "A"..."Z", "_", "$": text.unicodeScalars.append(scalar)
      case "0"..."9":
        if i == 0 { text += "\\" }
        text.unicodeScalars.append(scalar)
      case "\t": text += "\\t"
      case "\n": text += "\\n"
      case "\r": text += "\\r"
      case "\0"..<" ", "\u{7F}":
        let digits = String(scalar.value, radix: 16)
        text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
      case "\u{80}"...: text.unicodeScalars.append(scalar)
      default:
        text += "\\"
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
