import StorageInterface
import StoreValues

/// Results of which a test in Swift leaves those that pass: for what no condition can say. Live as results are, and of the
/// store's context.
///
/// ```swift
/// let palindromes = store.objects(Word.self).sorted(by: \.text)
///   .filter(reading: [\.text]) { $0.text == String($0.text.reversed()) }
/// token = palindromes.observe { change in table.apply(change) }
/// ```
///
/// The test is asked of every object on the caller when these are first read, and again when the store has moved on since. Observed
/// ones ask it, on the store's context, of all objects once and then of those alone that a commit touched. A condition
/// (`where`) does all this elsewhere and from indexes: narrow by one first.
public struct FilteredResults<Element: Model>: RandomAccessCollection {
  /// What is tested.
  let base: Results<Element>
  /// The paths that the test reads, or why they cannot be followed.
  let reading: Result<[String], StoreError>
  let passes: @Sendable (Element) -> Bool
  let answers: FilterAnswers

  init(
    _ base: Results<Element>, _ reading: Result<[String], StoreError>, answers: FilterAnswers = FilterAnswers(),
    _ passes: @escaping @Sendable (Element) -> Bool
  ) {
    (self.base, self.reading, self.answers, self.passes) = (base, reading, answers, passes)
  }

  /// The store that is read.
  public var store: Store { base.store }

  /// Why these are empty, when what was asked cannot be asked.
  public var error: StoreError? {
    if let error = base.error { return error }
    if case .failure(let error) = reading { return error }
    return nil
  }

  /// The rows of `base` that pass.
  private var rows: [Int] {
    if error != nil { return [] }
    base.state.store.settleDerived()
    if let rows = answers.rows(at: store.tick) { return rows }
    // Asked before the tick is read: a test may read what is derived in this moment.
    let passing = base.map { passes($0) ? UInt8(1) : 0 }
    answers.set(passing, at: store.tick)
    return answers.rows(at: store.tick) ?? []
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { rows.count }
  /// Nothing is promised: what a walk leaves out is not known before, and who makes room by this ends where there is less.
  public var underestimatedCount: Int { 0 }
  /// Outside the bounds as of `Results`.
  public subscript(position: Int) -> Element {
    let rows = rows
    return base[rows.indices.contains(position) ? rows[position] : base.count]
  }
}

/// Which rows passed when they were asked last.
final class FilterAnswers {
  /// 1 for each row that passes.
  private(set) var passing: [UInt8] = []
  private var tick: UInt64?
  /// The positions of those; nil until they are asked for.
  private var positions: [Int]?

  func set(_ passing: [UInt8], at tick: UInt64) {
    (self.passing, self.tick, positions) = (passing, tick, nil)
  }

  /// The answers by the keys of the rows that they are of.
  func answers(of keys: [Int64]) -> [Int64: UInt8] { Dictionary(zip(keys, passing)) { first, _ in first } }

  /// The rows that pass; nil where something may have changed since they were asked. O(rows) the first time.
  func rows(at tick: UInt64) -> [Int]? {
    guard self.tick == tick else { return nil }
    if let positions { return positions }
    let made = passing.indices.filter { passing[$0] != 0 }
    positions = made
    return made
  }
}

extension Results {
  /// The objects that also pass a test in Swift, which reads nothing of them but some properties, or what these lead to. When
  /// something else that it reads changes, nobody asks it again.
  ///
  /// Sort and narrow before. What is named must be stored; else these are empty, with `.unknownProperty` in `error`. Reads nothing.
  public func filter(
    reading paths: [PartialKeyPath<Element>], _ passes: @escaping @Sendable (Element) -> Bool
  ) -> FilteredResults<Element> {
    FilteredResults(
      self,
      Result { () throws(StoreError) in
        try paths.map { path throws(StoreError) in
          guard let name = Element.propertyName(of: path) else { throw .notAProperty(path, Element._$name) }
          return name
        }
      }, passes)
  }

  /// The same by names, which may lead over links, lists and inverses: `reading: ["name", "dogs.age"]`.
  public func filter(reading names: [String], _ passes: @escaping @Sendable (Element) -> Bool) -> FilteredResults<Element> {
    FilteredResults(
      self,
      Result { () throws(StoreError) in
        _ = try state.observed()?.only(names)
        return names
      }, passes)
  }
}

extension FilteredResults: CustomStringConvertible {
  public var description: String { listed(as: "FilteredResults<\(Element._$name)>") }
}
