import Foundation
import Testing
import Vivarium
import VivariumTestSupport

/// Random histories of several writers under many observers: applying each change set to what a token was told last gives
/// what the store has, whatever was skipped, filtered or merged in between.
///
/// `VIVARIUM_REPLAY=100000` runs more of them, `VIVARIUM_SEED=…` one again.
@Suite struct ReplayTests {
  @Test func everyChangeSetLeadsFromWhatWasToldToWhatIs() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<environmentNumber("VIVARIUM_REPLAY", default: 50) {
      var fork = generator.fork()
      var history = try History(&fork)
      try history.run()
    }
  }

  @Test(arguments: Engine.allCases) func soItIsOnEveryEngine(engine: Engine) throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<3 {
      let (configuration, directory) = engine.place()
      defer { withExtendedLifetime(directory) {} }
      var fork = generator.fork()
      var history = try History(&fork, configuration)
      try history.run()
    }
  }
}

/// What can be seen of a book.
private struct Seen: Equatable {
  var title: String
  var pages: Int
  var price: Double

  init(_ book: Book) {
    title = book.title
    pages = book.pages
    price = book.price
  }
}

/// One token with what it knows: keys in order, and the values that it saw.
private final class Observer {
  let results: Results<Book>
  /// Whether a modification counts, by what differs; nil: any.
  let properties: Set<String>?
  var token: NotificationToken?
  var keys: [ObjectID] = []
  var seen: [ObjectID: Seen] = [:]
  var touched: Set<ObjectID> = []
  var isStarted = false
  var calls = 0

  init(_ results: Results<Book>, _ properties: Set<String>?) throws {
    self.results = results
    self.properties = properties
    if let properties {
      token = try results.observe(observingProperties: Array(properties)) { [unowned self] in hear($0) }
    } else {
      token = results.observe { [unowned self] in hear($0) }
    }
  }

  func learn() {
    keys = results.map(\.id)
    seen = Dictionary(uniqueKeysWithValues: results.map { ($0.id, Seen($0)) })
    touched = []
  }

  private func hear(_ change: CollectionChange<Results<Book>>) {
    calls += 1
    switch change {
    case .error(let error): Issue.record("\(error)")
    case .initial:
      #expect(!isStarted)
      isStarted = true
    case .update(let books, let deletions, let insertions, let modifications):
      #expect(isStarted)
      let new = books.map(\.id)
      check(deletions, insertions, modifications, new)
      #expect(change.details?.deletedIDs == deletions.map { keys[$0] })
    }
    learn()
  }

  private func check(_ deletions: [Int], _ insertions: [Int], _ modifications: ChangedRows, _ new: [ObjectID]) {
    #expect(!deletions.isEmpty || !insertions.isEmpty || !modifications.isEmpty)
    for positions in [deletions, insertions, modifications.old, modifications.new] {
      #expect(zip(positions, positions.dropFirst()).allSatisfy { $0 < $1 })
    }
    #expect(Set(deletions).isDisjoint(with: modifications.old))
    #expect(Set(insertions).isDisjoint(with: modifications.new))
    #expect(modifications.old.map { keys[$0] } == modifications.new.map { new[$0] })
    var replayed = keys
    for position in deletions.reversed() { replayed.remove(at: position) }
    for position in insertions { replayed.insert(new[position], at: position) }
    #expect(replayed == new)
    let deleted = Set(deletions.map { keys[$0] })
    let modified = Set(modifications.old.map { keys[$0] })
    for book in results where seen[book.id] != nil && !deleted.contains(book.id) {
      let (before, now) = (seen[book.id], Seen(book))
      let differs =
        properties == nil
        ? before != now : (properties?.contains("price") == true && before?.price != now.price)
      if differs { #expect(modified.contains(book.id), "a row with other values was not told") }
      if !touched.contains(book.id) { #expect(!modified.contains(book.id), "an untouched row was told") }
    }
  }

  /// After a refresh: what was not told cannot have changed.
  func checkIsUpToDate() { #expect(keys == results.map(\.id)) }
}

/// The tokens of a list and of an inverse: keys in order, brought along by each change set.
private final class LinkObserver {
  private let now: () -> [ObjectID]
  private(set) var token: NotificationToken?
  private var keys: [ObjectID] = []
  private(set) var isStarted = false

  init(_ author: Author) {
    now = { author.books.map(\.id) }
    token = author.books.observe { [unowned self] in hear($0) { $0.map(\.id) } }
  }

  init(_ book: Book) {
    now = { book.authors.map(\.id) }
    token = book.authors.observe { [unowned self] in hear($0) { $0.map(\.id) } }
  }

  private func hear<C>(_ change: CollectionChange<C>, _ ids: (C) -> [ObjectID]) {
    switch change {
    case .error(let error): Issue.record("\(error)")
    case .initial(let collection):
      #expect(!isStarted)
      isStarted = true
      keys = ids(collection)
    case .update(let collection, let deletions, let insertions, let modifications):
      let new = ids(collection)
      #expect(modifications.old.map { keys[$0] } == modifications.new.map { new[$0] })
      for position in deletions.reversed() { keys.remove(at: position) }
      for position in insertions { keys.insert(new[position], at: position) }
      #expect(keys == new)
    }
  }

  func learn() { keys = now() }
  func checkIsUpToDate() { #expect(keys == now()) }
}

/// The tokens of numbers of results: what was told last is what a look at everything gives.
private final class NumberObserver {
  private let results: Results<Book>
  private(set) var tokens: [NotificationToken] = []
  private var count: Int?
  private var sum: Int?
  private var price: Double?
  private var least: Int??
  private var dearest: Double??

  init(_ results: Results<Book>) {
    self.results = results
    tokens = [
      results.observe(.count) { [unowned self] in count = told($0, count) },
      results.observe(.sum(of: \.pages)) { [unowned self] in sum = told($0, sum) },
      results.observe(.sum(of: \.price)) { [unowned self] in price = told($0, price) },
      results.observe(.min(of: \.pages)) { [unowned self] in least = told($0, least) },
      results.observe(.max(of: \.price)) { [unowned self] in dearest = told($0, dearest) },
    ]
  }

  private func told<V: Equatable>(_ change: AggregateChange<V>, _ known: V?) -> V? {
    switch change {
    case .initial: #expect(known == nil)
    case .update(let value, let old, _): #expect(old == known && value != known)
    case .error(let error): Issue.record("\(error)")
    }
    return change.value
  }

  func checkIsUpToDate() throws {
    let (pages, prices) = (try results.sum(of: \.pages), try results.sum(of: \.price))
    let (low, high) = (try results.min(of: \.pages), try results.max(of: \.price))
    #expect(count == results.count && sum == pages && price == prices && least == low && dearest == high)
  }
}

private struct History {
  private var random: SeededGenerator
  private let store: Store
  private let writers: [Store]
  private var observers: [Observer] = []
  private var links: [LinkObserver] = []
  private var numbers: [NumberObserver] = []

  init(_ generator: inout SeededGenerator, _ configuration: Store.Configuration? = nil) throws {
    random = generator
    let place = configuration ?? Engine.memory.place().configuration
    store = try Store(place)
    writers = [store, try Store(place), try Store(place)]
  }

  mutating func run() throws {
    try write(by: writers[1], [])
    for _ in 0..<5 {
      let results = results()
      observers.append(try Observer(results, random.oneIn(3) ? ["price"] : nil))
    }
    store.refresh()
    for author in store.objects(Author.self) { links.append(LinkObserver(author)) }
    if let book = store.objects(Book.self).first { links.append(LinkObserver(book)) }
    for _ in 0..<2 { numbers.append(NumberObserver(results())) }
    store.refresh()
    for step in 0..<30 {
      if step == 12 {
        let results = results()
        observers.append(try Observer(results, nil))
      }
      switch random.below(4) {
      case 0:
        store.refresh()
        for observer in observers where observer.isStarted { observer.checkIsUpToDate() }
        for link in links { link.checkIsUpToDate() }
        for number in numbers { try number.checkIsUpToDate() }
      case 1:
        var skipping: [Observer] = []
        for observer in observers where observer.isStarted && random.oneIn(3) { skipping.append(observer) }
        try write(by: store, skipping)
      default: try write(by: writers[1 + random.below(2)], [])
      }
    }
    store.refresh()
    for observer in observers {
      observer.checkIsUpToDate()
      observer.token?.stop()
    }
    for link in links {
      link.checkIsUpToDate()
      link.token?.stop()
    }
    for number in numbers {
      try number.checkIsUpToDate()
      for token in number.tokens { token.stop() }
    }
  }

  private mutating func results() -> Results<Book> {
    var books = store.objects(Book.self)
    switch random.below(5) {
    case 0: books = books.where { $0.pages > 4 }
    case 1: books = books.where { $0.pages < 8 && $0.title != "b" }
    case 2: books = books.where { $0.price > 2 || $0.pages == 3 }
    // Over an inverse.
    case 3: books = books.filter("authors.@count > 0")
    default: break
    }
    switch random.below(5) {
    case 0: books = books.sorted(by: \.pages)
    case 1: books = books.sorted(by: \.title).sorted(by: \.pages, ascending: false)
    case 2: books = books.sorted(by: \.price, ascending: false)
    default: break
    }
    switch random.below(8) {
    case 0, 1: return books.limited(to: 3 + random.below(6))
    case 2: return books.offset(by: random.below(4)).limited(to: 3 + random.below(6))
    case 3: return books.distinct(by: \.title)
    default: return books
    }
  }

  /// One commit of a few edits; those who skip it learn the result at once.
  private mutating func write(by writer: Store, _ skipping: [Observer]) throws {
    try writer.beginWrite()
    var touched: Set<ObjectID> = []
    for _ in 0..<1 + random.below(4) {
      let books = writer.objects(Book.self)
      if books.count < 4 || random.oneIn(4) {
        try writer.add(Book(title: ["a", "b", "c"][random.below(3)], pages: random.below(10), price: Double(random.below(5))))
        continue
      }
      let book = books[random.below(books.count)]
      touched.insert(book.id)
      switch random.below(5) {
      case 0: try writer.delete(book)
      case 1: book.title = ["a", "b", "c"][random.below(3)]
      case 2: book.price = Double(random.below(5))
      default: book.pages = random.below(10)
      }
    }
    try editLists(by: writer)
    for observer in observers { observer.touched.formUnion(touched) }
    // Those of lists and inverses too, now and then; numbers say by themselves what they know.
    var known: [LinkObserver] = []
    if !skipping.isEmpty { for link in links where link.isStarted && random.oneIn(3) { known.append(link) } }
    try writer.commitWrite(withoutNotifying: skipping.compactMap(\.token) + known.compactMap(\.token))
    for observer in skipping { observer.learn() }
    for link in known { link.learn() }
  }

  private mutating func editLists(by writer: Store) throws {
    if writer.objects(Author.self).isEmpty {
      for name in ["x", "y"] { try writer.add(Author(name: name)) }
    }
    let (authors, books) = (writer.objects(Author.self), writer.objects(Book.self))
    guard random.oneIn(2), !books.isEmpty else { return }
    let list = authors[random.below(authors.count)].books
    switch random.below(list.isEmpty ? 1 : 4) {
    case 0, 1: list.insert(books[random.below(books.count)], at: random.below(list.count + 1))
    case 2: list.remove(at: random.below(list.count))
    default: list.move(from: random.below(list.count), to: random.below(list.count))
    }
  }
}
