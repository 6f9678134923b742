import Dispatch
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Depot {
  var name = ""
  var level = 0
  var tags: LiveSet<String>
  var chosen: LiveSet<Cargo>
  var cargo: LiveList<Cargo>
  var sizes: LiveMap<Int>
  var byName: LiveMap<Cargo>
}

@Model final class Cargo {
  var title = ""
  var weight = 0
  @Inverse(\Depot.cargo) var depots: LinkingObjects<Depot>
}

final class CargoLabel: Projection<Cargo> {
  @Projected(\Cargo.title) var title
}

@ValueModel struct Gauge {
  @PrimaryKey var id = 1
  var level = 0
}

/// Random histories under an observer of every kind, of which some are left out of some commits, before their first call too: what each
/// was told, and what it knows of the commits that it was left out of, is what there is.
///
/// `VIVARIUM_REPLAY=100000` runs more of them, `VIVARIUM_SEED=…` one again.
@Suite struct SkippingKindsTests {
  @Test func whoIsLeftOutOfACommitKnowsWhatItMade() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<environmentNumber("VIVARIUM_REPLAY", default: 60) {
      var history = try KindsHistory(generator.fork(), Engine.memory.place([Depot.self, Cargo.self, Gauge.self]).configuration)
      try history.run()
    }
  }

  @Test func soItIsWhereAQueueTakesTurnsBetweenTheWrites() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<environmentNumber("VIVARIUM_REPLAY", default: 60) / 3 {
      var (configuration, _) = Engine.memory.place([Depot.self, Cargo.self, Gauge.self])
      configuration.manualDelivery = false
      var history = try KindsHistory(generator.fork(), configuration, DispatchQueue(label: "test.turns"))
      try history.run()
    }
  }

  @Test(arguments: [Engine.lmdb, .sqlite]) func soItIsInFiles(engine: Engine) throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<3 {
      let (configuration, directory) = engine.place([Depot.self, Cargo.self, Gauge.self])
      defer { withExtendedLifetime(directory) {} }
      var history = try KindsHistory(generator.fork(), configuration)
      try history.run()
    }
  }
}

/// One token of whatever kind, and what its owner knows.
private final class Watch {
  let name: String
  fileprivate(set) var token: NotificationToken?
  private let now: () -> [String]
  /// nil before the first call.
  private var known: [String]?

  init(_ name: String, _ now: @escaping () -> [String]) { (self.name, self.now) = (name, now) }

  /// The owner of the token has written, and shows what it made.
  func learn() { if known != nil { known = now() } }
  func check(_ comment: Comment) { #expect(known == now(), comment) }

  func begin(_ rows: [String]) {
    #expect(known == nil, "\(name) begins twice")
    known = rows
  }

  func update(to rows: [String], _ deletions: [Int], _ insertions: [Int], _ modifications: [Int]) {
    #expect(!deletions.isEmpty || !insertions.isEmpty || !modifications.isEmpty, "\(name) is told nothing")
    var next = known ?? []
    for position in deletions.reversed() where position < next.count { next.remove(at: position) }
    for position in insertions where position <= next.count && position < rows.count { next.insert(rows[position], at: position) }
    for position in modifications where position < next.count && position < rows.count { next[position] = rows[position] }
    #expect(next == rows, "\(name)")
    known = rows
  }

  func update(_ changes: [PropertyChange], to values: [String: Value]) {
    var next = Dictionary(uniqueKeysWithValues: (known ?? []).map { ($0.prefix { $0 != "=" }.description, $0) })
    for change in changes {
      guard let new = values[change.name] else { continue }
      if let old = change.oldValue { #expect(next[change.name] == "\(change.name)=\(old)", "\(name) was told otherwise") }
      next[change.name] = "\(change.name)=\(new)"
    }
    known = next.values.sorted()
    #expect(known == now(), "\(name)")
  }
}

extension Watch {
  /// Of a collection, whose elements are told apart and compared by a text.
  static func rows<C: Sequence>(
    _ name: String, _ now: @escaping () -> C, _ text: @escaping (C.Element) -> String,
    _ observe: (@escaping (CollectionChange<C>) -> Void) -> NotificationToken
  ) -> Watch {
    let watch = Watch(name) { now().map(text) }
    watch.token = observe { [unowned watch] change in
      switch change {
      case .initial(let rows): watch.begin(rows.map(text))
      case .update(let rows, let deletions, let insertions, let modifications):
        watch.update(to: rows.map(text), deletions, insertions, Array(modifications.new))
      case .error(let error): Issue.record("\(name): \(error)")
      }
    }
    return watch
  }

  /// Of a map: its keys are its rows.
  static func entries<V: PersistableElement>(_ name: String, _ map: LiveMap<V>, _ text: @escaping (V) -> String) -> Watch {
    func rows(_ map: LiveMap<V>) -> [String] { map.map { "\($0.key)=\(text($0.value))" }.sorted() }
    let watch = Watch(name) { rows(map) }
    watch.token = map.observe { [unowned watch] change in
      switch change {
      case .initial(let map): watch.begin(rows(map))
      case .update(let map, let deletions, let insertions, let modifications):
        watch.update(to: rows(map), deletions, insertions, Array(modifications))
      case .error(let error): Issue.record("\(name): \(error)")
      }
    }
    return watch
  }

  fileprivate func update(to rows: [String], _ deletions: [String], _ insertions: [String], _ modifications: [String]) {
    let key = { (row: String) in String(row.prefix { $0 != "=" }) }
    let all = Dictionary(uniqueKeysWithValues: rows.map { (key($0), $0) })
    var next = Dictionary(uniqueKeysWithValues: (known ?? []).map { (key($0), $0) })
    for key in deletions { #expect(next.removeValue(forKey: key) != nil, "\(name) lost what it had not") }
    for key in insertions {
      #expect(next[key] == nil, "\(name) got what it had")
      next[key] = all[key]
    }
    for key in modifications { next[key] = all[key] }
    #expect(next == all, "\(name)")
    known = rows
  }

  /// Of a value by its key.
  static func value(_ name: String, _ store: Store) -> Watch {
    let text = { (gauge: Gauge?) in gauge.map { ["\($0.level)"] } ?? [] }
    let watch = Watch(name) { text(store.value(Gauge.self, forPrimaryKey: 1)) }
    watch.token = store.observe(Gauge.self, forPrimaryKey: 1) { [unowned watch] change in
      switch change {
      case .initial(let gauge): watch.begin(text(gauge))
      case .change(let old, let new):
        #expect(watch.known == text(old), "\(name) was told otherwise")
        watch.known = text(new)
      case .error(let error): Issue.record("\(name): \(error)")
      }
    }
    return watch
  }

  /// Of an object.
  static func object(_ name: String, _ depot: Depot) -> Watch {
    let values = { ["name": Value.string(depot.name), "level": .int(Int64(depot.level))] }
    let watch = Watch(name) { values().map { "\($0.key)=\($0.value)" }.sorted() }
    // It begins with what there is.
    watch.begin(watch.now())
    watch.token = depot.observe { [unowned watch] change in
      switch change {
      case .change(let properties): watch.update(properties.filter { values()[$0.name] != nil }, to: values())
      case .deleted: Issue.record("\(name) is gone")
      case .error(let error): Issue.record("\(name): \(error)")
      }
    }
    return watch
  }
}

/// Runs on the queue, or here where there is none.
private func on<R>(_ queue: DispatchQueue?, _ body: () throws -> R) rethrows -> R {
  if let queue { try queue.sync(execute: body) } else { try body() }
}

private struct KindsHistory {
  private var random: SeededGenerator
  private let store: Store
  private let others: [Store]
  private var watches: [Watch] = []
  /// Whose the store is, where it takes turns: all that is done with it is done there, and turns come between.
  private let queue: DispatchQueue?

  init(_ random: SeededGenerator, _ configuration: Store.Configuration, _ queue: DispatchQueue? = nil) throws {
    (self.random, self.queue) = (random, queue)
    store = try queue.map { queue in try queue.sync { try Store(configuration, queue: queue) } } ?? Store(configuration)
    others = [try Store(configuration), try Store(configuration)]
    try others[0].write { try others[0].add(Depot(name: "main")) }
    try write(by: others[0])
  }

  mutating func run() throws {
    try on(queue) { try begin() }
    for _ in 0..<40 {
      switch random.below(5) {
      case 0: try on(queue) { try check() }
      case 1: try on(queue) { try skip() }
      case 2: try on(queue) { try writeSilently() }
      default: if random.oneIn(3) { try on(queue) { try write(by: store) } } else { try write(by: others[random.below(2)]) }
      }
    }
    try on(queue) {
      try check()
      for watch in watches { watch.token?.stop() }
    }
  }

  private mutating func begin() throws {
    store.refresh()
    let depot = try #require(store.objects(Depot.self).first)
    let text = { (cargo: Cargo) in "\(cargo.objectIdentifier) \(cargo.title) \(cargo.weight)" }
    let all = store.objects(Cargo.self)
    let bound = all.filter(bind: depot, \.level) { cargo, level in cargo.weight > level }
    let labels = all.projected(to: CargoLabel.self)
    let named = try store.dynamicObjects("Cargo").filter("weight > 3").sorted(byKeyPath: "title")
    watches = [
      .rows("results", { all }, text) { all.observe($0) },
      .rows("a list", { depot.cargo }, text) { depot.cargo.observe($0) },
      .rows("a set of values", { depot.tags }, { $0 }) { depot.tags.observe($0) },
      .rows("a set of objects", { depot.chosen }, text) { depot.chosen.observe($0) },
      .rows("bound results", { bound }, text) { bound.observe($0) },
      .rows("projections", { labels }, { $0.title }) { labels.observe($0) },
      .rows("dynamic results", { named }, { "\($0.id) \($0["title"] ?? .null) \($0["weight"] ?? .null)" }) { named.observe($0) },
      .entries("a map of values", depot.sizes) { "\($0)" },
      .entries("a map of objects", depot.byName) { "\($0.objectIdentifier)" },
      .object("an object", depot),
      .value("a value", store),
    ]
    if let cargo = all.first { watches.append(.rows("an inverse", { cargo.depots }, { $0.name }) { cargo.depots.observe($0) }) }
    if random.oneIn(2) { store.refresh() }
  }

  private func check() throws {
    store.refresh()
    for watch in watches { watch.check("\(watch.name)") }
  }

  private mutating func skip() throws {
    let knowing = watches.filter { _ in random.oneIn(2) }
    try store.write(withoutNotifying: knowing.compactMap(\.token)) { try edit(store) }
    for watch in knowing { watch.learn() }
  }

  private mutating func writeSilently() throws {
    try store.write(silently: true) { try edit(store) }
    for watch in watches { watch.learn() }
  }

  private mutating func write(by writer: Store) throws { try writer.write { try edit(writer) } }

  private mutating func edit(_ writer: Store) throws {
    let letters = ["a", "b", "c", "d"]
    for _ in 0..<1 + random.below(4) {
      let (cargo, letter) = (writer.objects(Cargo.self), letters[random.below(4)])
      guard let depot = writer.objects(Depot.self).first else { return }
      guard cargo.count >= 4 else {
        try writer.add(Cargo(title: letter, weight: random.below(10)))
        continue
      }
      // The first is observed as the end of links: it stays.
      let one = cargo[1 + random.below(cargo.count - 1)]
      switch random.below(18) {
      case 0: try writer.add(Cargo(title: letter, weight: random.below(10)))
      case 1: try writer.delete(one)
      case 2: one.title = letter
      case 3: one.weight = random.below(10)
      case 4: depot.level = random.below(6)
      case 5: depot.name = letter
      case 6: depot.tags.insert(letter)
      case 7: depot.tags.remove(letter)
      case 8: depot.chosen.insert(one)
      case 9: depot.chosen.remove(one)
      case 10: depot.cargo.append(random.oneIn(2) ? one : cargo[0])
      case 11: if depot.cargo.count > 0 { depot.cargo.remove(at: random.below(depot.cargo.count)) }
      case 12: depot.sizes[letter] = random.below(4)
      case 13: depot.sizes[letter] = nil
      case 14: depot.byName[letter] = one
      case 15: try writer.add(Gauge(id: 1, level: random.below(4)), update: .modified)
      case 16: _ = try writer.delete(Gauge.self, forPrimaryKey: 1)
      default: depot.byName[letter] = nil
      }
    }
  }
}
