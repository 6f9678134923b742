import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Moment {
  @PrimaryKey var id = 0
  @Unique var unique: Timestamp
  @Indexed var indexed: Timestamp?
  var plain: Timestamp?
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var mixed: AnyValue
  var seen: LiveSet<Timestamp>
}

/// Points in time a nanosecond apart are two, whatever asks for them, on every engine.
@Suite struct NanosecondTests {
  private static func time(_ nanoseconds: Int) -> Timestamp {
    Timestamp(secondsSince1970: 1_600_000_000, nanoseconds: Int64(nanoseconds))
  }

  /// Number n is n nanoseconds after a second; in the order 3, 1, 4, 2.
  private func filled(_ engine: Engine, _ directory: TemporaryDirectory) throws -> Store {
    let store = try Store(engine.configuration(directory.file(), [Moment.self]))
    try store.write {
      for id in [3, 1, 4, 2] {
        let time = Self.time(id)
        let moment = Moment(id: id, unique: time, indexed: time, plain: time, date: time.date, mixed: AnyValue(time))
        moment.seen.insert(time)
        moment.seen.insert(Self.time(0))
        try store.add(moment)
      }
    }
    return store
  }

  @Test(arguments: Engine.allCases) func everyConditionTellsNeighboursApart(engine: Engine) throws {
    let directory = TemporaryDirectory("nanoseconds")
    let moments = try filled(engine, directory).objects(Moment.self)
    func ids(_ results: Results<Moment>) -> [Int] { results.map(\.id).sorted() }
    for name in ["unique", "indexed", "plain", "mixed"] {
      #expect(ids(moments.filter("\(name) == T1600000000:2")) == [2], "\(name)")
      #expect(ids(moments.filter("\(name) == 2020-9-13@12:26:40:2")) == [2], "\(name)")
      #expect(ids(moments.filter("\(name) != %@", Self.time(2))) == [1, 3, 4], "\(name)")
      #expect(ids(moments.filter("\(name) < %@", Self.time(3))) == [1, 2], "\(name)")
      #expect(ids(moments.filter("\(name) <= %@", Self.time(3))) == [1, 2, 3], "\(name)")
      #expect(ids(moments.filter("\(name) > %@", Self.time(1))) == [2, 3, 4], "\(name)")
      #expect(ids(moments.filter("NOT \(name) >= %@", Self.time(2))) == [1], "\(name)")
      #expect(ids(moments.filter("\(name) BETWEEN %@", Self.time(2)...Self.time(3))) == [2, 3], "\(name)")
      #expect(ids(moments.filter("\(name) IN %@", [Self.time(1), Self.time(4), Self.time(5)])) == [1, 4], "\(name)")
      #expect(moments.filter("TRUEPREDICATE SORT(\(name) ASC)").map(\.id) == [1, 2, 3, 4], "\(name)")
      #expect(moments.filter("TRUEPREDICATE SORT(\(name) DESC)").map(\.id) == [4, 3, 2, 1], "\(name)")
      #expect(moments.filter("TRUEPREDICATE DISTINCT(\(name))").count == 4, "\(name)")
    }
    #expect(ids(moments.filter("ANY seen == %@", Self.time(3))) == [3] && ids(moments.filter("seen.@max > T1600000000:3")) == [4])
    #expect(ids(moments.filter("plain == indexed AND plain <= unique")) == [1, 2, 3, 4] && moments.filter("plain < unique").isEmpty)
    #expect(ids(moments.where { $0.plain == Self.time(3) }) == [3])
    #expect(moments.sorted(by: \.indexed, ascending: false).map(\.id) == [4, 3, 2, 1])
    // Without the nanoseconds they are one Date.
    #expect(ids(moments.where { $0.date == Date(timeIntervalSince1970: 1_600_000_000) }) == [1, 2, 3, 4])
  }

  @Test(arguments: Engine.allCases) func indexesAggregatesAndFilesKeepEveryNanosecond(engine: Engine) throws {
    let directory = TemporaryDirectory("nanoseconds")
    var store = try filled(engine, directory)
    // The same point in time is refused, the next nanosecond is not.
    #expect(throws: StoreError.self) { try store.write { try store.add(Moment(id: 5, unique: Self.time(4))) } }
    try store.write { try store.add(Moment(id: 5, unique: Self.time(5))) }
    if engine == .lmdb || engine == .sqlite { store = try Store(engine.configuration(directory.file(), [Moment.self])) }
    let moments = store.objects(Moment.self)
    #expect(try moments.min(of: \.plain) == Self.time(1) && moments.max(of: \.plain) == Self.time(4))
    #expect(try moments.min(of: \.unique) == Self.time(1) && moments.max(of: \.unique) == Self.time(5))
    #expect(try moments.filter("id < 3").max(of: \.indexed) == Self.time(2))
    let second = try #require(store.object(Moment.self, forPrimaryKey: 2))
    #expect(second.plain == Self.time(2) && second.mixed.timestamp == Self.time(2) && second.date == Date(timeIntervalSince1970: 1_600_000_000))
    #expect(second.seen.contains(Self.time(2)) && !second.seen.contains(Self.time(1)) && second.seen.count == 2)
    let text = try JSONEncoder().encode(second)
    let copy = try JSONDecoder().decode(Moment.self, from: text)
    #expect(copy.plain == Self.time(2) && copy.unique == Self.time(2) && copy.seen.contains(Self.time(2)))
    let made = try store.write { try store.create(Moment.self, value: ["id": 9, "unique": "2020-09-13T12:26:40.000000009Z"]).reference }
    #expect(store.resolve(made)?.unique == Self.time(9))
  }

  @Test(arguments: Engine.allCases) func nanAndTheInfinitiesKeepTheirPlaces(engine: Engine) throws {
    let directory = TemporaryDirectory("nanoseconds")
    let store = try Store(engine.configuration(directory.file(), [Moment.self]))
    let times: [Timestamp?] = [.infinity, .nan, nil, .reference, .negativeInfinity]
    try store.write {
      for (id, time) in times.enumerated() {
        try store.add(Moment(id: id, unique: time ?? Self.time(7), indexed: time, plain: time))
      }
    }
    let moments = store.objects(Moment.self)
    func ids(_ text: String) -> [Int] { moments.filter(text).map(\.id).sorted() }
    for name in ["indexed", "plain"] {
      #expect(ids("\(name) == date(nan)").isEmpty && ids("\(name) == \(name)") == [0, 2, 3, 4], "\(name)")
      #expect(ids("\(name) != date(nan)") == [0, 1, 2, 3, 4] && ids("\(name) IN {date(nan), date(inf)}") == [0], "\(name)")
      #expect(ids("\(name) < date(inf)") == [3, 4] && ids("\(name) <= date(inf)") == [0, 3, 4], "\(name)")
      #expect(ids("\(name) > date(-inf)") == [0, 3] && ids("\(name) >= date(-inf)") == [0, 3, 4], "\(name)")
      #expect(ids("\(name) < date(nan)").isEmpty && ids("\(name) >= date(nan)").isEmpty && ids("\(name) < date(-inf)").isEmpty, "\(name)")
      #expect(ids("NOT \(name) > date(-inf)") == [1, 2, 4] && ids("\(name) == nil") == [2], "\(name)")
      #expect(moments.filter("TRUEPREDICATE SORT(\(name) ASC)").map(\.id) == [2, 1, 4, 3, 0], "\(name)")
      #expect(moments.filter("TRUEPREDICATE SORT(\(name) DESC)").map(\.id) == [0, 3, 4, 1, 2], "\(name)")
    }
    #expect(try moments.min(of: \.plain) == .negativeInfinity && moments.max(of: \.indexed) == .infinity)
    #expect(try moments.min(of: \.unique) == .negativeInfinity && moments.filter("id == 1").max(of: \.plain) == nil)
    try store.write { for moment in moments { moment.plain = .nan } }
    #expect(try moments.min(of: \.plain) == nil && moments.max(of: \.plain) == nil)
    #expect(throws: StoreError.self) { try store.write { try store.add(Moment(id: 9, unique: .nan)) } }
  }

  @Test(arguments: Engine.allCases) func observedBoundsFollowANanosecond(engine: Engine) throws {
    let directory = TemporaryDirectory("nanoseconds")
    let store = try filled(engine, directory)
    let heard = Heard()
    let moments = store.objects(Moment.self)
    // The first is kept in the order of its values, the second looked for anew.
    let tokens = [
      moments.observe(.min(of: \.plain)) { heard.values.append($0.value ?? nil) },
      moments.filter("TRUEPREDICATE SORT(plain DESC) LIMIT(2)").observe(.min(of: \.plain)) { heard.values.append($0.value ?? nil) },
    ]
    store.refresh()
    #expect(heard.take() == [Self.time(1), Self.time(3)])
    try store.write { store.object(Moment.self, forPrimaryKey: 1)?.plain = .nan }
    store.refresh()
    #expect(heard.take() == [Self.time(2)])
    try store.write { store.object(Moment.self, forPrimaryKey: 2)?.plain = Self.time(6) }
    store.refresh()
    #expect(heard.take() == [Self.time(3), Self.time(4)])
    for token in tokens { token.stop() }
  }

  private final class Heard {
    var values: [Timestamp?] = []

    /// In the order of time: which observer is told first is not promised.
    func take() -> [Timestamp?] {
      defer { values = [] }
      return values.sorted { ($0 ?? .nan) < ($1 ?? .nan) }
    }
  }
}
