import ChangeTracker
import QueryEngine
import QueryModel
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

@Suite struct ViewUpkeepTests {
  private static func comparison(_ path: String, _ comparator: ComparisonOperator, _ value: Value) -> PredicateNode {
    .comparison(Comparison(.path(PropertyPath(path)), comparator, .constant(value)))
  }

  private static let conditions: [PredicateNode] = [
    .constant(true), comparison("age", .greater, .int(0)), comparison("nick", .equal, .null),
    comparison("best.weight", .greaterOrEqual, .int(2)), comparison("best", .equal, .null),
    .and([comparison("name", .notEqual, .string("")), .not(comparison("age", .equal, .int(1)))]),
    .or([comparison("best.name", .beginsWith, .string("Long")), comparison("score", .less, .double(1))]),
  ]

  private static let orders: [[SortKey]] = [
    [], [], [SortKey(PropertyPath("age"))], [SortKey(PropertyPath("age"), ascending: false)],
    [SortKey(PropertyPath("name"))], [SortKey(PropertyPath("nick"), ascending: false)],
    [SortKey(PropertyPath("score"))], [SortKey(PropertyPath("score"), ascending: false)],
    [SortKey(PropertyPath("best.name")), SortKey(PropertyPath("age"), ascending: false)],
    [SortKey(PropertyPath("best.weight"), ascending: false)],
    [SortKey(PropertyPath("age")), SortKey(PropertyPath("score"), ascending: false)],
    [SortKey(PropertyPath("score")), SortKey(PropertyPath("age"), ascending: false)],
    [SortKey(PropertyPath("age")), SortKey(PropertyPath("score")), SortKey(PropertyPath("name"))],
  ]

  // MARK: - Everything against the query engine

  /// Random stores, queries, commits and moments of delivery: the view is always what the query engine answers, and
  /// every change set takes the array given last to the one given now.
  @Test func viewsAreWhatTheQueryAnswersAndChangeSetsReplay() throws {
    var random = SeededGenerator.forTest()
    var delivered = 0
    for _ in 0..<environmentNumber("VIVARIUM_STORES", default: 25) { delivered += try Self.run(random.fork()) }
    print("change sets compared: \(delivered)")
  }

  private struct Token {
    var net: NetChanges
    var array: [Int64]
    var places: [Int64: OrderedRow]
    var touched: Set<Int64> = []
  }

  /// Where the rows stand, by the question's own account.
  private static func places(
    _ question: KeptQuery, _ keys: [Int64], in reading: any StorageReading
  ) throws -> [Int64: OrderedRow] {
    Dictionary(uniqueKeysWithValues: zip(keys, try question.places(of: keys, in: reading)))
  }

  private static func run(_ random: SeededGenerator) throws -> Int {
    var kennel = try Kennel(random)
    try kennel.commit(changes: 60)
    let query = Query(
      type: "Person", condition: conditions[kennel.random.below(conditions.count)],
      sort: orders[kennel.random.below(orders.count)])
    let (question, bound) = try #require(try kennel.kept(query))
    var reading = try kennel.engine.beginRead()
    let upkeep = try ViewUpkeep(question, keys: bound.keys(in: reading).shuffled(using: &kennel.random), in: reading)
    var result = try bound.keys(in: reading)
    #expect(upkeep.view.latest.allKeys == result)
    let start = Token(
      net: NetChanges(base: upkeep.view.latest), array: result, places: try places(question, result, in: reading))
    var tokens = [start, start, start]
    var delivered = 0
    for _ in 0..<12 {
      for _ in 0...kennel.random.below(3) { try kennel.commit(changes: [0, 1, 1, 4, 20][kennel.random.below(5)]) }
      let next = try kennel.engine.beginRead()
      let records = try kennel.records(after: reading.version, in: next)
      let step = try upkeep.apply(records, from: reading, to: next)
      reading = next
      result = try bound.keys(in: reading)
      #expect(upkeep.view.latest.allKeys == result, "seed \(random.seed): \(query)")
      let touched = records.flatMap(\.tables).filter { $0.table == kennel.person.id }
        .flatMap(\.modified).map(\.key.rawValue)
      for i in tokens.indices {
        if let step { tokens[i].net.add(step) }
        tokens[i].touched.formUnion(touched)
        guard kennel.random.oneIn(3) else { continue }
        let set = try tokens[i].net.changeSet(to: upkeep.view.latest, upkeep.fullKeys(in: reading))
        let now = try places(question, result, in: reading)
        let oracle = ChangeSetOracle(
          old: tokens[i].array, new: result, modified: bound.followsLinks ? nil : tokens[i].touched,
          reordered: Set(result.filter { tokens[i].places[$0] != nil && tokens[i].places[$0] != now[$0] }))
        let fault = oracle.fault(in: set)
        #expect(fault == nil, "seed \(random.seed): \(query) \(tokens[i].array) to \(result) by \(set)")
        tokens[i] = Token(net: NetChanges(base: upkeep.view.latest), array: result, places: now)
        delivered += 1
      }
    }
    return delivered
  }

  // MARK: - Relevance

  private func given(
    _ condition: PredicateNode, _ sort: [SortKey] = []
  ) throws -> (kennel: Kennel, upkeep: ViewUpkeep, reading: any ReadTransaction) {
    var kennel = try Kennel(SeededGenerator(seed: 5))
    try kennel.commit(changes: 200)
    let (question, bound) = try #require(try kennel.kept(Query(type: "Person", condition: condition, sort: sort)))
    let reading = try kennel.engine.beginRead()
    return (kennel, try ViewUpkeep(question, keys: bound.keys(in: reading), in: reading), reading)
  }

  private func commit(
    _ kennel: Kennel, _ upkeep: ViewUpkeep, _ reading: any ReadTransaction, _ body: (RecordedTransaction) throws -> Void
  ) throws -> ViewStep? {
    try kennel.write(body)
    let next = try kennel.engine.beginRead()
    return try upkeep.apply(kennel.records(after: reading.version, in: next), from: reading, to: next)
  }

  @Test func aCommitToAnotherTypeCostsTheQueryNothing() throws {
    let (kennel, upkeep, reading) = try given(Self.comparison("age", .greater, .int(0)))
    let step = try commit(kennel, upkeep, reading) { write in
      _ = try write.insert(RowBuffer(kennel.dog))
      for dog in kennel.dogs { try write.set(kennel.dog.column(named: "weight"), dog, .int(99)) }
    }
    #expect(step == nil)
    #expect(upkeep.work == ViewUpkeep.Work())
  }

  @Test func aCommitToPropertiesNobodyLooksAtCostsTheQueryNothing() throws {
    let (kennel, upkeep, reading) = try given(Self.comparison("age", .greater, .int(0)))
    upkeep.watched = .only(PropertySet([kennel.person.id("name")]))
    let step = try commit(kennel, upkeep, reading) { write in
      for person in kennel.people { try write.set(kennel.person.column(named: "notes"), person, .string("new")) }
    }
    #expect(step == nil)
    #expect(upkeep.work == ViewUpkeep.Work())
  }

  @Test func aRowOutsideThePredicateBeforeAndAfterNotifiesNobody() throws {
    let (kennel, upkeep, reading) = try given(Self.comparison("age", .greater, .int(1_000)))
    let step = try commit(kennel, upkeep, reading) { write in
      try write.set(kennel.person.column(named: "age"), kennel.people[0], .int(7))
      try write.set(kennel.person.column(named: "notes"), kennel.people[1], .string("new"))
    }
    #expect(step == nil)
    #expect(upkeep.work.rowsTested == 2)
  }

  @Test func oneChangedObjectIsOneRowTested() throws {
    let (kennel, upkeep, reading) = try given(.constant(true), [SortKey(PropertyPath("age"))])
    let step = try commit(kennel, upkeep, reading) { write in
      try write.set(kennel.person.column(named: "age"), kennel.people[3], .int(500))
    }
    #expect(step?.rows.map(\.key) == [kennel.people[3].rawValue])
    #expect(step?.to.key(at: kennel.people.count - 1) == kennel.people[3])
    #expect(upkeep.work.rowsTested == 1)
  }

  @Test func aChangedTargetReachesTheRowsThatLeadToIt() throws {
    let (kennel, upkeep, reading) = try given(Self.comparison("best.weight", .greaterOrEqual, .int(70)))
    #expect(upkeep.view.count == 0)
    let owned = try #require(
      kennel.dogs.first { dog in
        var owners = 0
        try? reading.sources(of: dog, through: kennel.person.column(named: "best")) { keys in
          owners += keys.count
          return .proceed
        }
        return owners > 0
      })
    let step = try commit(kennel, upkeep, reading) { write in
      try write.set(kennel.dog.column(named: "weight"), owned, .int(70))
    }
    #expect(upkeep.view.count > 0)
    #expect(step?.changeSet().insertions == Array(0..<upkeep.view.count))
    #expect(upkeep.work.rowsTested == upkeep.view.count)
  }

  @Test func filtersTellOwnPropertiesAndPathsApart() throws {
    let (kennel, upkeep, reading) = try given(.constant(true))
    let weight = upkeep.follow(
      ReadPath(
        hops: [.forward(kennel.person.column(named: "best"))], table: kennel.dog.id,
        properties: PropertySet([kennel.dog.id("weight")])))
    let column = kennel.person.column(named: "best")
    let person = try #require(try kennel.people.first { try reading.word(column, $0) != nil })
    let best = try #require(try reading.word(kennel.person.column(named: "best"), person))
    let step = try #require(
      try commit(kennel, upkeep, reading) { write in
        try write.set(kennel.dog.column(named: "weight"), ObjectKey(best), .int(70))
      })
    let position = try #require(step.to.allKeys.firstIndex(of: person.rawValue))
    #expect(step.changeSet(.only(PropertySet(), paths: weight)).modifications.contains(position))
    #expect(step.changeSet(.only(PropertySet([kennel.person.id("name")]), paths: 0)).isEmpty)
    #expect(step.changeSet(.none).isEmpty)
  }

  @Test func followingTheSamePathTwiceIsOneBit() throws {
    let (kennel, upkeep, _) = try given(.constant(true))
    let path = ReadPath(hops: [], table: kennel.person.id, properties: PropertySet([kennel.person.id("age")]))
    #expect(upkeep.follow(path) == upkeep.follow(path))
    #expect(upkeep.paths.count == 1)
  }

  /// Ends of inverse relationships: a person's list leads from the dog to the person and back.
  @Test func aChangeAcrossAnInverseReachesBothEnds() throws {
    var kennel = try Kennel(SeededGenerator(seed: 9))
    try kennel.commit(changes: 200)
    var collector = ReadPathCollector(kennel.dog, try kennel.engine.beginRead().catalog)
    let isKnown = collector.add(PropertyPath("owners.age"), isSort: false)
    #expect(isKnown)
    let question = OwnedDogs(table: kennel.dog.id, reads: collector.paths, kennel: kennel)
    var reading = try kennel.engine.beginRead()
    func truth() throws -> [Int64] {
      try kennel.dogs.filter { try question.matches($0, in: reading) }.map(\.rawValue).sorted()
    }
    let upkeep = try ViewUpkeep(question, keys: truth(), in: reading)
    for _ in 0..<30 {
      try kennel.commit(changes: 5)
      let next = try kennel.engine.beginRead()
      _ = try upkeep.apply(kennel.records(after: reading.version, in: next), from: reading, to: next)
      reading = next
      #expect(try upkeep.view.latest.allKeys == truth())
    }
  }

  // MARK: - Failure

  @Test func aViewWhoseReadingFailsIsAsItWasAndCanTryAgain() throws {
    var (kennel, upkeep, reading) = try given(.constant(true), [SortKey(PropertyPath("name"))])
    let before = upkeep.view.latest
    try kennel.commit(changes: 100)
    let next = try kennel.engine.beginRead()
    let records = try kennel.records(after: reading.version, in: next)
    let ended = try kennel.engine.beginRead()
    ended.end()
    #expect(throws: StorageError.self) { try upkeep.apply(records, from: reading, to: ended) }
    #expect(throws: StorageError.self) { try upkeep.apply(records, from: ended, to: next) }
    #expect(upkeep.view.latest === before)
    _ = try upkeep.apply(records, from: reading, to: next)
    let bound = try BoundQuery(Query(type: "Person", sort: [SortKey(PropertyPath("name"))]), in: next.catalog)
    #expect(try upkeep.view.latest.allKeys == bound.keys(in: next))
    _ = reading
  }

  @Test func aQueryWithALimitOrAnUnknownPathIsNotKeptRowByRow() throws {
    let kennel = try Kennel(SeededGenerator(seed: 1))
    let catalog = try kennel.engine.beginRead().catalog
    let any: @Sendable (ObjectKey, any StorageReading) throws(StorageError) -> Bool = { (_, _) in true }
    #expect(KeptQuery(Query(type: "Person", limit: 3), in: catalog, matches: any) == nil)
    #expect(KeptQuery(Query(type: "Cat"), in: catalog, matches: any) == nil)
    #expect(KeptQuery(Query(type: "Person", sort: [SortKey(PropertyPath("x"))]), in: catalog, matches: any) == nil)
  }
}

/// Dogs with an owner older than 2, through the inverse of `dogs`.
private struct OwnedDogs: ViewQuestion {
  let table: TableID
  let reads: [ReadPath]
  let ordering = ViewOrdering.byObjectKey
  private let dogs: ColumnID
  private let age: ColumnID

  init(table: TableID, reads: [ReadPath], kennel: Kennel) {
    self.table = table
    self.reads = reads
    dogs = kennel.person.column(named: "dogs")
    age = kennel.person.column(named: "age")
  }

  func matches(_ key: ObjectKey, in reading: any StorageReading) throws(StorageError) -> Bool {
    var owners: [Int64] = []
    try reading.sources(of: key, through: dogs) { keys in
      owners += keys
      return .proceed
    }
    for owner in owners { if let age = try reading.word(age, ObjectKey(owner)), age > 2 { return true } }
    return false
  }

  func places(of keys: [Int64], in reading: any StorageReading) throws(StorageError) -> [OrderedRow] {
    keys.map { OrderedRow(prefix: 0, key: $0) }
  }
  func sortKey(_ key: ObjectKey, in reading: any StorageReading) throws(StorageError) -> [UInt8] { [] }
}
