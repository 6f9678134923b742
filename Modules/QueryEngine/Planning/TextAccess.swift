import QueryModel
import StorageInterface
import StoreValues

/// An access that answers part of a condition from an index of words: a `TEXT` that every object of the result must pass.
struct TextAccess: Sendable {
  let index: TextIndexEntry
  /// The words that must occur.
  let terms: [TextTerm]
  /// The condition to test for objects that have all the words: exclusions, and the other parts of the condition.
  let residual: Condition
  /// The condition to test if some words were not looked up.
  let whole: Condition

  /// The accesses for every `TEXT` that must hold and whose property has an index.
  static func candidates(for condition: Condition, in table: TableEntry) -> [TextAccess] {
    if table.textIndexes.isEmpty { return [] }
    let parts = condition.conjuncts
    return parts.indices.compactMap { at in
      guard case .own(let own) = parts[at], case .bytes(.text(let test)) = own.test.kind, let query = test.words,
        let index = table.textIndexes.first(where: { $0.property == own.column.property }),
        // Split by other rules, the index may lack words.
        index.rules == TextWords.rules, !own.test.matchesNull
      else { return nil }
      let others = Condition.and(parts.indices.filter { $0 != at }.map { parts[$0] }).simplified()
      return TextAccess(
        index: index, terms: query.requiredTerms, residual: query.hasExclusions ? condition : others, whole: condition)
    }
  }
}

extension Run {
  /// The entries of a word are read if they are at most this many times the objects left to test. An entry costs little; an
  /// object that is not excluded must be read, and its text split into words.
  static let entryFactor = 32

  /// The number of entries of each word.
  mutating func entries(_ access: TextAccess, _ storage: any TextIndexReading) throws(StorageError) -> [Int] {
    var counts: [Int] = []
    for term in access.terms { counts.append(try storage.count(of: term.bytes, isPrefix: term.isPrefix, in: access.index.id)) }
    statistics.runsCounted += counts.count
    return counts
  }

  /// The objects that have the words, in ascending order, and the condition left to test.
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
  /// Sorted, without duplicates.
  fileprivate func sortedOnce() -> [Int64] {
    var result: [Int64] = []
    for key in sorted() where key != result.last { result.append(key) }
    return result
  }

  /// The intersection of two ascending lists.
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
