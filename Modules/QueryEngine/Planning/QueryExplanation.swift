import QueryModel
import StoreValues

/// How a query would be answered on one version of one store.
public struct QueryExplanation: Sendable, Hashable, CustomStringConvertible {
  /// Where the objects come from, before the rest of the condition.
  public enum Access: Sendable, Hashable {
    /// The condition never holds: nothing is read.
    case nothing
    /// Every object in the order of keys, columns at a time.
    case scan
    /// Some runs of the index over these properties.
    case index(properties: [String], runs: Int)
    /// The engine's own query.
    case engine(statement: String)
  }

  /// An index that the condition could go by.
  public struct IndexWay: Sendable, Hashable {
    /// What it is an index over, in its order.
    public var properties: [String]
    /// How many objects it delivers.
    public var rows: Int

    /// An index over these properties that delivers so many objects.
    public init(properties: [String], rows: Int) {
      self.properties = properties
      self.rows = rows
    }
  }

  /// How the objects are found.
  public var access: Access
  /// How many objects the access delivers, before the rest of the condition.
  public var estimatedRows: Int
  /// Whether something is left to test for each of them.
  public var testsEachRow: Bool
  /// The columns a scan reads.
  public var columns: [String]
  /// Whether the results have to be put in order.
  public var sorts: Bool
  /// At most so many are kept while ordering.
  public var limit: Int?
  /// Indexes that would do and were not chosen: another delivers fewer, or reading everything costs less than what they
  /// deliver read one by one.
  public var passedOver: [IndexWay] = []

  public var description: String {
    let way =
      switch access {
      case .nothing: "nothing to read"
      case .scan: "scan of \(columns.isEmpty ? "keys" : columns.joined(separator: ", "))"
      case .index(let properties, let runs): "index on \(properties.joined(separator: ", ")), \(runs) run\(runs == 1 ? "" : "s")"
      case .engine(let statement): "engine: \(statement)"
      }
    var text = "\(way); about \(estimatedRows) rows"
    if testsEachRow { text += "; tests each row" }
    if sorts { text += limit.map { "; keeps the first \($0) in order" } ?? "; sorts" }
    for way in passedOver { text += "; not by the index on \(way.properties.joined(separator: ", ")) (\(way.rows) rows)" }
    return text
  }
}
