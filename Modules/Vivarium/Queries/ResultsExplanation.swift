/// How results are found, what that costs, and how they are maintained while they are observed.
///
/// ```swift
/// print(try store.objects(Person.self).where { $0.age > 90 }.sorted(by: \.name).explain())
/// // Person: age > 90 SORT(name ASC)
/// //   index on age, 1 run: 12 objects; puts them in order
/// //   12 objects in 85 µs; 12 index entries, 12 objects read one by one
/// //   kept row by row when observed
/// ```
public struct ResultsExplanation: Sendable, Hashable {
  /// How the objects are found, before the rest of the condition is tested.
  public enum Access: Sendable, Hashable {
    /// The condition never holds: nothing is read.
    case nothing
    /// A scan of every object of the type, reading these columns.
    case scan(columns: [String])
    /// Runs of the index over these properties.
    case index(properties: [String], runs: Int)
    /// The engine's own query.
    case engine(statement: String)
    /// The elements of one object's list or set, each tested individually.
    case list(property: String)
    /// The objects whose relationship points to one object, each tested individually.
    case inverse(type: String, property: String)
    /// The objects of other results, each tested individually.
    indirect case results(ResultsExplanation)
  }

  /// An index that could be used but was not chosen.
  public struct PassedIndex: Sendable, Hashable {
    /// The indexed properties, in the index's order.
    public let properties: [String]
    /// How many objects it would deliver.
    public let rows: Int
  }

  /// The queried type.
  public let type: String
  /// The condition and the clauses, in the form of `Results.format`.
  public let question: String
  /// How the objects are found.
  public let access: Access
  /// How many objects the access was expected to deliver.
  public let estimatedRows: Int
  /// Whether part of the condition remains to be tested for each of them.
  public let testsEachRow: Bool
  /// Whether the objects that pass have to be sorted.
  public let sorts: Bool
  /// Indexes that could be used but were not chosen: another delivers fewer objects, or a scan costs less.
  public let passedIndexes: [PassedIndex]
  /// The number of objects in the results.
  public let count: Int
  /// The number of rows that scans went through. Like `entriesRead` and `objectsRead`, independent of the machine.
  public let rowsScanned: Int
  /// The number of entries taken from an index or from the engine's query.
  public let entriesRead: Int
  /// The number of objects read one by one.
  public let objectsRead: Int
  /// How long this evaluation took.
  public let time: Duration
  /// How the results are maintained while they are observed.
  public let upkeep: ResultUpkeep
  /// Why the results are evaluated again after commits instead of being kept row by row, one phrase per cause. Empty unless
  /// `upkeep` is `.askedAgain`.
  public let obstacles: [String]
  /// Whether this store observes them, so that reading them evaluates nothing.
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
  /// At least three digits, in a suitable unit.
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
