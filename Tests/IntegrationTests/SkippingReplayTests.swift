import Foundation
import Testing
import Vivarium
import VivariumTestSupport

/// Random histories under observers that keep something by themselves (tested rows, numbers, old values), of which some are
/// left out of some commits: what each was told, and what its own writes made of that, is what there is.
///
/// `VIVARIUM_REPLAY=100000` runs more of them, `VIVARIUM_SEED=…` one again.
@Suite struct SkippingReplayTests {
  @Test func whoIsLeftOutOfACommitKnowsWhatItMade() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<environmentNumber("VIVARIUM_REPLAY", default: 60) {
      var history = try SkippingHistory(generator.fork(), Engine.memory.place().configuration)
      try history.run()
    }
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func soItIsInFiles(engine: Engine) throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<3 {
      let (configuration, directory) = engine.place()
      defer { withExtendedLifetime(directory) {} }
      var history = try SkippingHistory(generator.fork(), configuration)
      try history.run()
    }
  }

  @Test func aNumberThatComesBackAfterACommitThatWasLeftOutIsTold() throws {
    let store = try Store(Engine.memory.place().configuration)
    var heard: [String] = []
    let token = store.objects(Book.self).observe(.count) { change in
      if case .update(let now, let was, _) = change { heard.append("\(was) to \(now)") } else { heard.append("\(change.value ?? -1)") }
    }
    store.refresh()
    try store.write(withoutNotifying: [token]) { try store.add(Book(title: "a", pages: 1)) }
    try store.write { try store.delete(store.objects(Book.self)) }
    store.refresh()
    #expect(heard == ["0", "1 to 0"])
    token.stop()
  }

  @Test func aWriteBeforeTheFirstCallIsNotTold() throws {
    let store = try Store(Engine.memory.place().configuration)
    var heard: [String] = []
    let token = store.objects(Book.self).observe { change in
      switch change {
      case .initial(let books): heard.append("initial \(books.count)")
      case .update(let books, _, _, _): heard.append("update \(books.count)")
      case .error(let error): Issue.record("\(error)")
      }
    }
    try store.write(withoutNotifying: [token]) { try store.add(Book(title: "a", pages: 1)) }
    store.refresh()
    #expect(heard == ["initial 0"])
    token.stop()
  }
}

/// One token of rows that a test in Swift leaves.
private final class TestedObserver {
  let books: FilteredResults<Book>
  private(set) var token: NotificationToken?
  private var keys: [ObjectID] = []
  private var isStarted = false

  init(_ results: Results<Book>) {
    books = results.filter(reading: [\.pages, \.title]) { $0.pages % 2 == 0 && $0.title != "c" }
    token = books.observe { [unowned self] in hear($0) }
  }

  private func hear(_ change: CollectionChange<FilteredResults<Book>>) {
    switch change {
    case .error(let error): Issue.record("\(error)")
    case .initial(let now):
      #expect(!isStarted)
      isStarted = true
      keys = now.map(\.id)
    case .update(let now, let deletions, let insertions, let modifications):
      let new = now.map(\.id)
      #expect(!deletions.isEmpty || !insertions.isEmpty || !modifications.isEmpty)
      #expect(modifications.old.map { $0 < keys.count ? keys[$0] : nil } == modifications.new.map { $0 < new.count ? new[$0] : nil })
      for position in deletions.reversed() where position < keys.count { keys.remove(at: position) }
      for position in insertions where position <= keys.count { keys.insert(new[position], at: position) }
      #expect(keys == new)
    }
  }

  func learn() { keys = books.map(\.id) }
  func checkIsUpToDate() { #expect(keys == books.map(\.id)) }
}

/// Tokens of numbers.
private final class TotalObserver {
  private let numbers: [any NumberObserving]
  var tokens: [NotificationToken] { numbers.compactMap(\.token) }

  init(_ results: Results<Book>) {
    numbers = [
      NumberObserver(results, .count) { $0.count },
      NumberObserver(results, .sum(of: \.pages)) { try $0.sum(of: \.pages) },
      NumberObserver(results, .average(of: \.pages)) { try $0.average(of: \.pages) },
      NumberObserver(results, .min(of: \.price)) { try $0.min(of: \.price) },
      NumberObserver(results, .max(of: \.pages)) { try $0.max(of: \.pages) },
    ]
  }

  func learn() throws { for number in numbers { try number.learn() } }
  func checkIsUpToDate() throws { for number in numbers { try number.checkIsUpToDate() } }
}

private protocol NumberObserving {
  var token: NotificationToken? { get }
  func learn() throws
  func checkIsUpToDate() throws
}

/// A token of one number.
private final class NumberObserver<Number: Equatable>: NumberObserving {
  private let results: Results<Book>
  private let asked: (Results<Book>) throws -> Number
  private(set) var token: NotificationToken?
  private var known: Number?

  init(_ results: Results<Book>, _ number: LiveAggregate<Book, Number>, _ asked: @escaping (Results<Book>) throws -> Number) {
    (self.results, self.asked) = (results, asked)
    token = results.observe(number) { [unowned self] in hear($0) }
  }

  private func hear(_ change: AggregateChange<Number>) {
    switch change {
    case .initial: #expect(known == nil)
    case .update(let value, let old, _): #expect(old == known && value != known)
    case .error(let error): Issue.record("\(error)")
    }
    known = change.value
  }

  func learn() throws { known = try asked(results) }

  func checkIsUpToDate() throws {
    let now = try asked(results)
    #expect(known == now)
  }
}

/// A token that sees objects as they were.
private final class OldValueObserver {
  private let results: Results<Book>
  private(set) var token: NotificationToken?
  private var titles: [ObjectID: String] = [:]

  init(_ results: Results<Book>) {
    self.results = results
    token = results.observe(options: ObservationOptions(includingOldValues: true)) { [unowned self] change in
      if let details = change.details {
        for book in details.deletedObjects(Book.self) + details.modifiedObjects(Book.self) { #expect(titles[book.id] == book.title) }
      }
      learn()
    }
  }

  func learn() { titles = Dictionary(uniqueKeysWithValues: results.map { ($0.id, $0.title) }) }
}

private struct SkippingHistory {
  private var random: SeededGenerator
  private let store: Store
  private let others: [Store]
  private var tested: [TestedObserver] = []
  private var totals: [TotalObserver] = []
  private var old: [OldValueObserver] = []

  init(_ random: SeededGenerator, _ configuration: Store.Configuration) throws {
    self.random = random
    store = try Store(configuration)
    others = [try Store(configuration), try Store(configuration)]
  }

  mutating func run() throws {
    try write(by: others[0])
    store.refresh()
    tested = [
      TestedObserver(store.objects(Book.self)), TestedObserver(store.objects(Book.self).sorted(by: \.price)),
      TestedObserver(store.objects(Book.self).where { $0.pages < 7 }.sorted(by: \.title)),
      TestedObserver(store.objects(Book.self).sorted(by: \.pages).limited(to: 5)),
      TestedObserver(store.objects(Book.self).distinct(by: \.title)),
    ]
    totals = [TotalObserver(store.objects(Book.self)), TotalObserver(store.objects(Book.self).where { $0.price > 2 })]
    old = [OldValueObserver(store.objects(Book.self)), OldValueObserver(store.objects(Book.self).where { $0.pages < 6 })]
    if random.oneIn(2) { store.refresh() }
    for _ in 0..<40 {
      switch random.below(5) {
      case 0:
        store.refresh()
        try check()
      case 1: try skip()
      case 2: try writeSilently()
      default: try write(by: random.oneIn(3) ? store : others[random.below(2)])
      }
    }
    store.refresh()
    try check()
    for observer in tested { observer.token?.stop() }
    for token in totals.flatMap(\.tokens) + old.compactMap(\.token) { token.stop() }
  }

  private func check() throws {
    for observer in tested { observer.checkIsUpToDate() }
    for total in totals { try total.checkIsUpToDate() }
  }

  private mutating func skip() throws {
    var (knowing, counting, seeing): ([TestedObserver], [TotalObserver], [OldValueObserver]) = ([], [], [])
    for observer in tested where random.oneIn(2) { knowing.append(observer) }
    for total in totals where random.oneIn(2) { counting.append(total) }
    for observer in old where random.oneIn(2) { seeing.append(observer) }
    let tokens = knowing.compactMap(\.token) + counting.flatMap(\.tokens) + seeing.compactMap(\.token)
    try store.write(withoutNotifying: tokens) { try edit(store) }
    for observer in knowing { observer.learn() }
    for total in counting { try total.learn() }
    for observer in seeing { observer.learn() }
  }

  private mutating func writeSilently() throws {
    try store.write(silently: true) { try edit(store) }
    for observer in tested { observer.learn() }
    for total in totals { try total.learn() }
    for observer in old { observer.learn() }
  }

  private mutating func write(by writer: Store) throws { try writer.write { try edit(writer) } }

  private mutating func edit(_ writer: Store) throws {
    for _ in 0..<1 + random.below(3) {
      let books = writer.objects(Book.self)
      if books.count < 4 || random.oneIn(4) {
        try writer.add(Book(title: ["a", "b", "c"][random.below(3)], pages: random.below(10), price: Double(random.below(5))))
        continue
      }
      let book = books[random.below(books.count)]
      switch random.below(5) {
      case 0: try writer.delete(book)
      case 1: book.title = ["a", "b", "c"][random.below(3)]
      case 2: book.price = Double(random.below(5))
      default: book.pages = random.below(10)
      }
    }
  }
}
