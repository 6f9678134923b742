import StorageInterface
import StoreValues

/// Results filtered by a test in Swift, for what no condition can express. Live like `Results`, and confined to the store's
/// context.
///
/// ```swift
/// let palindromes = store.objects(Word.self).sorted(by: \.text)
///   .filter(reading: [\.text]) { $0.text == String($0.text.reversed()) }
/// token = palindromes.observe { change in table.apply(change) }
/// ```
///
/// The first read runs the test for every object, on the caller; so does a read after the store has changed. An observation runs it
/// on the store's context, for all objects once and then only for those that a commit touched. A condition (`where`) does all this
/// off the context and by indexes: narrow by one first.
public struct FilteredResults<Element: Model>: RandomAccessCollection {
  /// The results to filter.
  let base: Results<Element>
  /// The paths that the test reads, or the error that prevents following them.
  let reading: Result<[String], StoreError>
  let passes: @Sendable (Element) -> Bool
  let answers: FilterAnswers
  /// The source line that named the paths.
  private let place: SourcePlace?

  init(
    _ base: Results<Element>, _ reading: Result<[String], StoreError>, answers: FilterAnswers = FilterAnswers(),
    at place: SourcePlace? = nil, _ passes: @escaping @Sendable (Element) -> Bool
  ) {
    (self.base, self.reading, self.answers, self.place, self.passes) = (base, reading, answers, place, passes)
  }

  /// The store that is read.
  public var store: Store { base.store }

  /// The error that makes these results empty; nil if the query is valid.
  public var error: StoreError? {
    if let error = base.error { return error }
    if case .failure(let error) = reading { return error }
    return nil
  }

  /// The rows of `base` that pass.
  private var rows: [Int] {
    if base.error != nil {
      // Reading what is tested says what is wrong with it.
      _ = base.state.keys()
      return []
    }
    if case .failure(let error) = reading {
      // A walk asks several times.
      if !answers.hasSaidFault { store.misuse(error, at: place) }
      answers.hasSaidFault = true
      return []
    }
    base.state.store.settleDerived()
    if let rows = answers.rows(at: store.tick) { return rows }
    // Run the tests before reading the tick: reading a derived property may compute it, which raises the tick.
    let passing = base.map { passes($0) ? UInt8(1) : 0 }
    answers.set(passing, at: store.tick)
    return answers.rows(at: store.tick) ?? []
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { rows.count }
  /// Always 0: iteration skips objects deleted meanwhile, and callers that reserve space by this number trap if fewer follow.
  public var underestimatedCount: Int { 0 }
  /// The object at a position; outside the bounds as in `Results`.
  public subscript(position: Int) -> Element {
    let rows = rows
    return base[rows.indices.contains(position) ? rows[position] : base.count]
  }
}

/// Which rows passed the test when it last ran.
final class FilterAnswers {
  /// 1 for each row that passes.
  private(set) var passing: [UInt8] = []
  /// Whether the error of the paths was reported.
  var hasSaidFault = false
  private var tick: UInt64?
  /// The positions of those rows; nil until first needed.
  private var positions: [Int]?

  func set(_ passing: [UInt8], at tick: UInt64) {
    (self.passing, self.tick, positions) = (passing, tick, nil)
  }

  /// The answers by the keys of their rows.
  func answers(of keys: [Int64]) -> [Int64: UInt8] { Dictionary(zip(keys, passing)) { first, _ in first } }

  /// The rows that pass; nil if anything may have changed since the test ran. O(rows) the first time.
  func rows(at tick: UInt64) -> [Int]? {
    guard self.tick == tick else { return nil }
    if let positions { return positions }
    let made = passing.indices.filter { passing[$0] != 0 }
    positions = made
    return made
  }
}

extension Results {
  /// The objects that also pass a test in Swift, which reads only the given properties of them, or what these lead to. If the test
  /// reads anything else, a change of that does not run it again.
  ///
  /// Sort and narrow before. Only stored properties can be named; otherwise the results are empty, with `.unknownProperty` in
  /// `error`, and reading them is misuse, as with a condition that is wrong. Reads nothing.
  public func filter(
    reading paths: [PartialKeyPath<Element>], fileID: StaticString = #fileID, line: UInt = #line,
    _ passes: @escaping @Sendable (Element) -> Bool
  ) -> FilteredResults<Element> {
    FilteredResults(
      self,
      Result { () throws(StoreError) in
        try paths.map { path throws(StoreError) in
          guard let name = Element.propertyName(of: path) else { throw .notAProperty(path, Element._$name) }
          return name
        }
      }, at: SourcePlace(fileID: fileID, line: line), passes)
  }

  /// Filters by a test that reads named paths, which may lead over links, lists and inverses: `reading: ["name", "dogs.age"]`.
  public func filter(
    reading names: [String], fileID: StaticString = #fileID, line: UInt = #line,
    _ passes: @escaping @Sendable (Element) -> Bool
  ) -> FilteredResults<Element> {
    FilteredResults(
      self,
      Result { () throws(StoreError) in
        _ = try state.observed()?.only(names)
        return names
      }, at: SourcePlace(fileID: fileID, line: line), passes)
  }
}

extension FilteredResults: CustomStringConvertible {
  public var description: String { listed(as: "FilteredResults<\(Element._$name)>") }
}
