import Vivarium

/// One section of a results controller with its objects. Valid until the controller changes; read it again after a change.
public struct ResultsSection<Element>: PositionalCollection {
  /// The key that its rows share; null for rows without a value, and without sectioning.
  public let key: Value
  /// The number of rows.
  public let count: Int
  private let object: (Int) -> Element

  init(key: Value, count: Int, _ object: @escaping (Int) -> Element) {
    self.key = key
    self.count = count
    self.object = object
  }

  /// The key as text; empty for null.
  public var name: String {
    switch key {
    case .null: ""
    case .string(let text): text
    case .int(let number): "\(number)"
    case .double(let number): "\(number)"
    case .float(let number): "\(number)"
    case .bool(let flag): "\(flag)"
    default: "\(key)"
    }
  }

  /// The first letter of the name, in upper case, for an index at the side of a table.
  public var indexTitle: String { name.first.map { $0.uppercased() } ?? "" }

  public var startIndex: Int { 0 }
  public var endIndex: Int { count }
  /// A row, mapped when it is first read.
  public subscript(position: Int) -> Element { object(position) }
}
