import ChangeTracker
import StorageInterface
import StoreValues

/// How the notifier makes and keeps an observed result. Created by the modules that know queries.
package struct ResultRecipe: Sendable {
  /// The ways to keep a result.
  package enum Question: Sendable {
    /// Row by row: a commit costs what it changed.
    case rows(any ViewQuestion)
    /// The rows between two positions of a result that is kept row by row, whose keys the closure returns.
    case window(any ViewQuestion, Range<Int>, keys: @Sendable (any StorageReading) throws(StorageError) -> [Int64])
    /// Evaluated again after a commit that may have changed it, and compared.
    case whole(ComparedQuestion)
  }

  /// Equal for the same question of the same engine: such observers share one view.
  package var identity: any Hashable & Sendable
  /// The keys of the rows, in order. Runs on the notifier's queue, never on the observer's context.
  package var keys: @Sendable (any StorageReading) throws(StorageError) -> [Int64]
  package var question: @Sendable (any StorageReading) throws(StorageError) -> Question
  /// The properties that the question depends on; when they change it is made again. nil: none.
  package var binding: ResultBinding?
  /// The total that is observed instead of change sets; nil: change sets. Part of `identity`.
  package var total: TotalQuestion?

  package init(
    identity: any Hashable & Sendable, keys: @escaping @Sendable (any StorageReading) throws(StorageError) -> [Int64],
    question: @escaping @Sendable (any StorageReading) throws(StorageError) -> Question, binding: ResultBinding? = nil,
    total: TotalQuestion? = nil
  ) {
    self.identity = identity
    self.keys = keys
    self.question = question
    self.binding = binding
    self.total = total
  }
}

/// The modifications reported to one observer: of the rows' own properties, and at the end of paths.
package struct ResultFilter: Sendable {
  package var properties: PropertySet
  package var paths: [ReadPath]
  /// Further paths, of an observer that names none: they share one bit, so there may be many.
  package var others: [ReadPath]

  package init(properties: PropertySet, paths: [ReadPath], others: [ReadPath] = []) {
    self.properties = properties
    self.paths = paths
    self.others = others
  }

  var allPaths: [ReadPath] { paths + others }
}

/// One state of an observed result: immutable, for any thread. Retains no storage version.
package enum ResultVersion: Sendable {
  case view(ViewVersion)
  /// Rows identified as by `RowIdentity`.
  case rows([Int64])

  package var count: Int {
    switch self {
    case .view(let version): version.count
    case .rows(let rows): rows.count
    }
  }

  /// The objects at some positions, clamped. O(log n), plus a little for each.
  package func keys(in range: Range<Int>) -> [Int64] {
    switch self {
    case .view(let version): version.keys(in: range)
    case .rows(let rows): rows[range.clamped(to: 0..<rows.count)].map { RowIdentity.key(of: $0) }
    }
  }

  /// The object at a position; nil outside. O(log n).
  package func key(at position: Int) -> Int64? {
    switch self {
    case .view(let version): version.key(at: position)?.rawValue
    case .rows(let rows): rows.indices.contains(position) ? RowIdentity.key(of: rows[position]) : nil
    }
  }

  var allRows: [Int64] {
    switch self {
    case .view(let version): version.allKeys
    case .rows(let rows): rows
    }
  }
}
