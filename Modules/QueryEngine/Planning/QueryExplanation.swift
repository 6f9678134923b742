import QueryModel
import StoreValues

/// The execution of a query on one version of one store.
public struct QueryExplanation: Sendable, Hashable, CustomStringConvertible {
  /// Where the objects come from, before the residual condition.
  public enum Access: Sendable, Hashable {
    /// The condition never holds: nothing is read.
    case nothing
    /// All objects in key order, column-wise.
    case scan
    /// Runs of the index over these properties.
    case index(properties: [String], runs: Int)
    /// A statement of the engine.
    case engine(statement: String)
  }

  /// An index that could answer part of the condition.
  public struct IndexWay: Sendable, Hashable {
    /// The properties of the index, in its order.
    public var properties: [String]
    /// How many objects it delivers.
    public var rows: Int

    /// An index over these properties that delivers `rows` objects.
    public init(properties: [String], rows: Int) {
      self.properties = properties
      self.rows = rows
    }
  }

  /// How the objects are found.
  public var access: Access
  /// How many objects the access delivers, before the residual condition.
  public var estimatedRows: Int
  /// Whether a residual condition is tested for each of them.
  public var testsEachRow: Bool
  /// The columns a scan reads.
  public var columns: [String]
  /// Whether the results must be sorted.
  public var sorts: Bool
  /// The most rows that are kept while sorting.
  public var limit: Int?
  /// Usable indexes that were not chosen, because another delivers fewer objects, or a scan costs less than reading theirs one
  /// by one.
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
