import Observation
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// What is asked, ordered and observed along inverses.
@Suite struct InverseTests {
  private static let models: [any SchemaDescribing.Type] = [Label.self, Record.self, Track.self]

  /// Two records with two tracks each.
  private func makeStore(_ configuration: Store.Configuration) throws -> (Store, [Record], [Track]) {
    let store = try Store(configuration)
    let records = ["b", "a"].map { name in
      let record = Record(title: name)
      record.tracks = [Track(title: "1 of \(name)"), Track(title: "2 of \(name)")]
      return record
    }
    try store.write { try store.add(records) }
    return (store, records, records.flatMap(\.tracks))
  }

  // MARK: - Order

  @Test(arguments: Engine.allCases) func objectsAreOrderedByWhatAToOneInverseLeadsTo(engine: Engine) throws {
    let (configuration, directory) = engine.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let (store, records, _) = try makeStore(configuration)
    try store.write { try store.add(Track(title: "alone")) }
    let tracks = store.objects(Track.self)
    let ordered = tracks.sorted(byKeyPath: "record.title")
    #expect(ordered.error == nil && ordered.upkeep == .rowByRow)
    #expect(ordered.map(\.title) == ["1 of a", "2 of a", "1 of b", "2 of b", "alone"])
    #expect(tracks.filter("record.@count > 0 SORT(record.title DESC, title DESC)").map(\.title) == ["2 of b", "1 of b", "2 of a", "1 of a"])
    #expect(tracks.sorted(byKeyPath: "record.title").limited(to: 1).first?.title == "1 of a")
    try store.write { records[0].title = "0" }
    #expect(ordered.map(\.title) == ["1 of b", "2 of b", "1 of a", "2 of a", "alone"])
    // Over two inverses, the second of which leads nowhere yet.
    try store.write { try store.add(Label(name: "x")) }
    let label = try #require(store.objects(Label.self).first)
    try store.write { label.records.append(records[1]) }
    #expect(tracks.sorted(byKeyPath: "record.label.name").map(\.title).prefix(2) == ["1 of a", "2 of a"])
    // A link is no value to order by, and neither is a list behind an inverse.
    #expect(tracks.sorted(byKeyPath: "record").error?.code == .invalidQuery)
    #expect(tracks.sorted(byKeyPath: "record.tracks.title").error?.code == .invalidQuery)
  }

  @Test(arguments: Engine.allCases) func objectsAreOrderedByAggregatesOfWhatPointsToThem(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    let books = (0..<3).map { Book(title: "\($0)") }
    try store.write {
      for (number, held) in [[0], [0, 2], [0, 2, 2]].enumerated() {
        let author = Author(name: "\(number)")
        author.books = LiveList(held.map { books[$0] })
        try store.add(author)
      }
      try store.add(books[1])
    }
    let all = store.objects(Book.self)
    let byCount = all.sorted(byKeyPath: "authors.@count", ascending: false)
    #expect(byCount.upkeep == .rowByRow && byCount.map(\.title) == ["0", "2", "1"])
    // The first author of each, and how many books that one has.
    #expect(all.filter("TRUEPREDICATE SORT((authors.books.@count) DESC)").map(\.title) == ["1", "2", "0"])
    #expect(all.filter("TRUEPREDICATE SORT((authors.@min.born) ASC, title DESC)").error == nil)
  }

  /// Random edits of everything that an order along inverses depends on: applying what is told to what was told before
  /// gives what a plain sort of all objects gives. `VIVARIUM_ORDER_EDITS=10000` makes more of them.
  @Test(arguments: Engine.allCases) func ordersAlongInversesStayThoseOfAFullSort(engine: Engine) throws {
    let (configuration, directory) = engine.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let (store, _, _) = try makeStore(configuration)
    var random = SeededGenerator.forTest()
    let tracks = store.objects(Track.self)
    let orders = [
      OrderedRows(tracks.sorted(byKeyPath: "record.title")) { ($0.record == nil ? "1" : "0") + ($0.record?.title ?? "") },
      OrderedRows(tracks.filter("TRUEPREDICATE SORT((record.tracks.@count) ASC)")) {
        ($0.record?.tracks.count).map { $0 < 10 ? "0\($0)" : "\($0)" } ?? "~"
      },
      OrderedRows(tracks.sorted(byKeyPath: "record.title").limited(to: 5)) { ($0.record == nil ? "1" : "0") + ($0.record?.title ?? "") },
    ]
    store.refresh()
    for _ in 0..<max(1, environmentNumber("VIVARIUM_ORDER_EDITS", default: 200) / 5) {
      try store.write { for _ in 0..<5 { try edit(store, &random) } }
      store.refresh()
      for order in orders { order.check(tracks) }
    }
    #expect(orders.allSatisfy { $0.told > 0 } && orders.map(\.rows.upkeep) == [.rowByRow, .rowByRow, .window])
    for order in orders { order.token?.stop() }
  }

  private func edit(_ store: Store, _ random: inout SeededGenerator) throws {
    let (records, tracks) = (store.objects(Record.self), store.objects(Track.self))
    let record = records.isEmpty ? nil : records[random.below(records.count)]
    let track = tracks.isEmpty ? nil : tracks[random.below(tracks.count)]
    switch random.below(12) {
    case 0, 1: try store.add(Track(title: "\(random.below(9))"))
    case 2: try store.add(Record(title: "\(random.below(9))"))
    case 3: if let track, random.oneIn(2) { try store.delete(track) }
    case 4: if let record, random.oneIn(4) { try store.delete(record) }
    case 5, 6: record?.title = "\(random.below(9))"
    case 7: if let record, record.tracks.count > 0 { record.tracks.remove(at: random.below(record.tracks.count)) }
    default:
      guard let record, let track, record.tracks.count < 50 else { return }
      if let owner = track.record, let at = owner.tracks.firstIndex(of: track) { owner.tracks.remove(at: at) }
      // What nobody owns any more would go at the commit: it is in the new record before that.
      if !track.isInvalidated { record.tracks.append(track) }
    }
  }

  // MARK: - Observing

  @Test(arguments: Engine.allCases) func anObserverOfAToOneInverseHearsOfItsOwnChangesAlone(engine: Engine) throws {
    let (configuration, directory) = engine.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let (store, records, tracks) = try makeStore(configuration)
    var (heard, rows): ([String], [Int]) = ([], [])
    let tokens = [
      try tracks[0].observe(observingProperties: ["record"]) { change in
        guard case .change(let properties) = change else { return }
        heard += properties.map { "\($0.name) \($0.oldValue ?? .null) \($0.newValue ?? .null)" }
      },
      try store.objects(Track.self).observe(observingProperties: ["record"]) { change in
        if case .update(_, _, _, let modifications) = change { rows += Array(modifications) }
      },
    ]
    func told(_ body: () throws -> Void) throws -> String {
      try store.write(body)
      store.refresh()
      defer { (heard, rows) = ([], []) }
      return "\(heard) \(rows)"
    }
    store.refresh()
    // Other members of the same list, other properties of the record, another order: the inverse is what it was.
    let others = [
      try told { records[0].tracks.remove(at: 1) }, try told { records[0].title = "c" },
      try told { records[1].tracks.move(from: 0, to: 1) }, try told { records[0].tracks.append(Track(title: "new")) },
    ]
    #expect(others == Array(repeating: "[] []", count: 4))
    let (old, new) = (Value.link(records[0].id.key), Value.link(records[1].id.key))
    let moved = try told {
      records[1].tracks.insert(tracks[0], at: 0)
      records[0].tracks.remove(at: 0)
    }
    #expect(moved == "\(["record \(old) \(new)"]) [0]")
    // What lies behind the inverse is told as a change of it.
    let deep = try tracks[0].observe(observingProperties: ["record.title"]) { change in
      if case .change(let properties) = change { heard += properties.map { "\($0.name) \($0.oldValue == $0.newValue)" } }
    }
    let renamed = try told { records[1].title = "d" }
    #expect(renamed == "\(["record true"]) []")
    deep.stop()
    for token in tokens { token.stop() }
  }

  @Test func anInverseTellsItsPropertyObserversInsideTheSetter() throws {
    let (configuration, directory) = Engine.memory.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let (store, records, tracks) = try makeStore(configuration)
    var heard: [String?] = []
    let token = tracks[0].observe(\.record) { _, change in heard.append(change.newValue??.title) }
    try store.write {
      records[0].tracks.remove(at: 1)
      records[1].tracks.append(tracks[0])
      #expect(heard.isEmpty, "the first that points here is the same")
      records[0].tracks.remove(at: 0)
      #expect(heard == ["a"])
    }
    #expect(heard == ["a"])
    token.stop()
  }

  @Test func trackedReadsOfAnInverseAreOfWhatPointsHereAlone() throws {
    let (configuration, directory) = Engine.memory.place(Self.models)
    defer { withExtendedLifetime(directory) {} }
    let (store, records, tracks) = try makeStore(configuration)
    let label = Label(name: "x")
    try store.write { try store.add(label) }
    store.tracksReads = true
    let changes = Mutex(0)
    withObservationTracking { _ = tracks[0].record } onChange: { changes.withLock { $0 += 1 } }
    try store.write { label.name = "y" }
    #expect(changes.withLock { $0 } == 0)
    try store.write { records[1].tracks.append(tracks[0]) }
    #expect(changes.withLock { $0 } == 1)
  }
}

/// Ordered tracks with what was told of them, and what they are ordered by.
private final class OrderedRows {
  let rows: Results<Track>
  private let value: (Track) -> String
  private let limit: Int
  private var known: [ObjectID] = []
  private(set) var told = 0
  private(set) var token: NotificationToken?

  init(_ rows: Results<Track>, _ value: @escaping (Track) -> String) {
    self.rows = rows
    self.value = value
    limit = rows.upkeep == .window ? 5 : .max
    token = rows.observe { [unowned self] change in
      switch change {
      case .initial(let rows): known = rows.map(\.id)
      case .error(let error): Issue.record("\(error)")
      case .update(let rows, let deletions, let insertions, _):
        told += 1
        for position in deletions.reversed() { known.remove(at: position) }
        for position in insertions { known.insert(rows[position].id, at: position) }
      }
    }
  }

  func check(_ tracks: Results<Track>) {
    struct Row {
      var value: String
      var id: ObjectID
    }
    var sorted: [Row] = []
    for track in tracks { sorted.append(Row(value: value(track), id: track.id)) }
    sorted.sort { (a: Row, b: Row) -> Bool in
      if a.value != b.value { return a.value < b.value }
      return a.id.key < b.id.key
    }
    let expected: [ObjectID] = sorted.prefix(limit).map(\Row.id)
    let found: [ObjectID] = rows.map(\Track.id)
    #expect(found == expected)
    #expect(known == expected)
  }
}
