/// How results are found, what that costs, and how they are kept right when somebody observes them.
///
/// ```swift
/// print(try store.objects(Person.self).where { $0.age > 90 }.sorted(by: \.name).explain())
/// // Person: age > 90 SORT(name ASC)
/// //   index on age, 1 run: 12 objects; puts them in order
/// //   12 objects in 85 µs; 12 index entries, 12 objects read one by one
/// //   kept row by row when observed
/// ```
public struct ResultsExplanation: Sendable, Hashable {
  /// Where the objects come from, before the rest of the condition.
  public enum Access: Sendable, Hashable {
    /// The condition never holds: nothing is read.
    case nothing
    /// Every object of the type, these columns at a time.
    case scan(columns: [String])
    /// So many runs of the index over these properties.
    case index(properties: [String], runs: Int)
    /// The engine's own query.
    case engine(statement: String)
    /// The elements of one object's list or set, each tested by itself.
    case list(property: String)
    /// The objects whose relationship points to one object, each tested by itself.
    case inverse(type: String, property: String)
    /// What other results give, each tested by itself.
    indirect case results(ResultsExplanation)
  }

  /// An index that would do and was not chosen.
  public struct PassedIndex: Sendable, Hashable {
    /// What it is an index over, in its order.
    public let properties: [String]
    /// How many objects it would deliver.
    public let rows: Int
  }

  /// The type that was asked.
  public let type: String
  /// The condition and the clauses, as `Results.format`.
  public let question: String
  /// How the objects are found.
  public let access: Access
  /// How many objects the access was expected to deliver.
  public let estimatedRows: Int
  /// Whether something of the condition is left to test for each of them.
  public let testsEachRow: Bool
  /// Whether the objects that pass have to be put in order.
  public let sorts: Bool
  /// Indexes that would do and were not chosen: another delivers fewer, or reading everything costs less.
  public let passedIndexes: [PassedIndex]
  /// How many objects the results have.
  public let count: Int
  /// Rows that scans went through, entries that were taken from an index or the engine's query, and objects that were read one by
  /// one. Counts, which do not depend on the machine.
  public let rowsScanned: Int
  /// See `rowsScanned`.
  public let entriesRead: Int
  /// See `rowsScanned`.
  public let objectsRead: Int
  /// How long finding them took, this once.
  public let time: Duration
  /// How they are kept when they are observed.
  public let upkeep: ResultUpkeep
  /// Why they are asked again after commits and not kept row by row, a phrase for each part that is the cause. Empty unless
  /// `upkeep` is `.askedAgain`.
  public let obstacles: [String]
  /// Whether somebody observes them in this store, so that reading them evaluates nothing.
  public let isObserved: Bool
}

extension ResultsExplanation: CustomStringConvertible {
  public var description: String { lines.joined(separator: "\n") }

  private var lines: [String] {
    var lines = ["\(type): \(question)", "  " + way]
    if case .results(let outer) = access { lines += outer.lines.dropLast(2).map { "    " + $0 } }
    for index in passedIndexes {
      lines.append("  not by the index on \(index.properties.joined(separator: ", ")): \(index.rows) objects")
    }
    lines.append("  \(count) object\(count == 1 ? "" : "s") in \(time.shown)\(work)")
    lines.append("  " + keeping)
    return lines
  }

  private var way: String {
    var text =
      switch access {
      case .nothing: "the condition never holds: nothing is read"
      case .scan(let columns): "scan of \(columns.isEmpty ? "keys" : columns.joined(separator: ", "))"
      case .index(let properties, let runs): "index on \(properties.joined(separator: ", ")), \(runs) run\(runs == 1 ? "" : "s")"
      case .engine(let statement): "engine: \(statement)"
      case .list(let property): "elements of \(property)"
      case .inverse(let type, let property): "objects of \(type) that point here by \(property)"
      case .results: "of these results"
      }
    if access != .nothing { text += ": \(estimatedRows) object\(estimatedRows == 1 ? "" : "s")" }
    if testsEachRow { text += "; tests each" }
    if sorts { text += "; puts them in order" }
    return text
  }

  private var work: String {
    var parts: [String] = []
    if rowsScanned > 0 { parts.append("\(rowsScanned) row\(rowsScanned == 1 ? "" : "s") scanned") }
    if entriesRead > 0 { parts.append("\(entriesRead) index \(entriesRead == 1 ? "entry" : "entries")") }
    if objectsRead > 0 { parts.append("\(objectsRead) object\(objectsRead == 1 ? "" : "s") read one by one") }
    return parts.isEmpty ? "" : "; " + parts.joined(separator: ", ")
  }

  private var keeping: String {
    let when = isObserved ? "; observed, so reading them evaluates nothing" : " when observed"
    switch upkeep {
    case .rowByRow: return "kept row by row" + when
    case .window: return "kept row by row, as a window" + when
    case .askedAgain:
      return "asked again after commits that may change them" + (isObserved ? when : ", when observed")
        + ", because " + obstacles.joined(separator: ", and ")
    }
  }
}

extension Duration {
  /// With three digits at least, in a unit that suits.
  fileprivate var shown: String {
    let (seconds, attoseconds) = components
    let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    switch nanoseconds {
    case ..<10_000: return "\(nanoseconds) ns"
    case ..<10_000_000: return "\(nanoseconds / 1000) µs"
    case ..<10_000_000_000: return "\(nanoseconds / 1_000_000) ms"
    default: return "\(seconds) s"
    }
  }
}
