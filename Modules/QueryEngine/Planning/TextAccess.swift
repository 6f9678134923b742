import QueryModel
import StorageInterface
import StoreValues

/// A way to answer a part of a condition from an index of words: a `TEXT` that every object of the result must pass.
struct TextAccess: Sendable {
  let index: TextIndexEntry
  /// The words that must be there.
  let terms: [TextTerm]
  /// What is left to test of objects that have all the words: exclusions, and the other parts of the condition.
  let residual: Condition
  /// What is left to test where words were not looked up.
  let whole: Condition

  /// Every `TEXT` of a property with an index that the whole condition asks for.
  static func candidates(for condition: Condition, in table: TableEntry) -> [TextAccess] {
    if table.textIndexes.isEmpty { return [] }
    let parts = condition.conjuncts
    return parts.indices.compactMap { at in
      guard case .own(let own) = parts[at], case .bytes(.text(let test)) = own.test.kind, let query = test.words,
        let index = table.textIndexes.first(where: { $0.property == own.column.property }),
        // Cut by other rules it may lack words.
        index.rules == TextWords.rules, !own.test.matchesNull
      else { return nil }
      let others = Condition.and(parts.indices.filter { $0 != at }.map { parts[$0] }).simplified()
      return TextAccess(
        index: index, terms: query.requiredTerms, residual: query.hasExclusions ? condition : others, whole: condition)
    }
  }
}

extension Run {
  /// A list of objects that have a word is read where it is at most so many times as long as what is left to test. Each
  /// entry costs a little; an object that is not left out is read, and its text cut into words.
  static let entryFactor = 32

  /// How many entries each word has.
  mutating func entries(_ access: TextAccess, _ storage: any TextIndexReading) throws(StorageError) -> [Int] {
    var counts: [Int] = []
    for term in access.terms { counts.append(try storage.count(of: term.bytes, isPrefix: term.isPrefix, in: access.index.id)) }
    statistics.runsCounted += counts.count
    return counts
  }

  /// The objects that have the words, ascending, and what is left to test of them.
  mutating func keys(
    of access: TextAccess, _ counts: [Int], _ storage: any TextIndexReading
  ) throws(StorageError) -> (keys: [Int64], residual: Condition) {
    var keys: [Int64]?
    for at in counts.indices.sorted(by: { (counts[$0], $0) < (counts[$1], $1) }) {
      if let keys, keys.count.multipliedReportingOverflow(by: Run.entryFactor).partialValue < counts[at] {
        return (keys, keys.isEmpty ? access.residual : access.whole)
      }
      let term = access.terms[at]
      var having: [Int64] = []
      having.reserveCapacity(counts[at])
      try storage.keys(of: term.bytes, isPrefix: term.isPrefix, in: access.index.id) { block in
        having.append(contentsOf: block)
        return .proceed
      }
      statistics.entriesRead += having.count
      if term.isPrefix { having = having.sortedOnce() }
      keys = keys.map { $0.intersection(having) } ?? having
    }
    return (keys ?? [], access.residual)
  }
}

extension [Int64] {
  /// Ascending, each once.
  fileprivate func sortedOnce() -> [Int64] {
    var result: [Int64] = []
    for key in sorted() where key != result.last { result.append(key) }
    return result
  }

  /// What two ascending lists have in common.
  fileprivate func intersection(_ other: [Int64]) -> [Int64] {
    var result: [Int64] = []
    var at = 0
    for key in self {
      while at < other.count, other[at] < key { at += 1 }
      if at == other.count { break }
      if other[at] == key { result.append(key) }
    }
    return result
  }
}
