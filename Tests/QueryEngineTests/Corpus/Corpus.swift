import Foundation
import StorageInterface
import StoreValues
import VivariumTestSupport

/// A few people and homes whose values are the difficult ones, and conditions with the rows they must give: written from
/// Docs/Predicates.md, not from what the engine did.
struct Corpus {
  let engine: any StorageEngine
  let catalog: Catalog
  /// By row.
  private(set) var keys: [Int64] = []

  static let schema = Schema([
    ObjectSchema(
      "Person", .scalar("name", .string, optional: true, indexed: true), .scalar("age", .int64, optional: true, indexed: true),
      .scalar("score", .double, optional: true, indexed: true), .scalar("weight", .float), .scalar("flag", .bool, optional: true),
      .scalar("born", .date, optional: true), .scalar("blob", .data, optional: true), .scalar("price", .decimal, optional: true),
      .list("nums", of: .int64, optional: true), .list("words", of: .string, optional: true), .link("boss", to: "Person"),
      .list("friends", ofLinksTo: "Person"), .link("home", to: "Home"), .inverse("staff", of: "Person", "boss")),
    ObjectSchema("Home", .scalar("city", .string, optional: true), .scalar("size", .int64, optional: true)),
  ])

  private struct Row {
    var name: String?
    var age: Int64?
    var score: Double?
    var weight: Float
    var flag: Bool?
    var born: Int?
    var blob: [UInt8]?
    var price: String?
    var nums: [Int64?]
    var words: [String?]
    var boss: Int?
    var friends: [Int]
    var home: Int?
  }

  private static let rows = [
    Row(name: "Anna", age: 30, score: 1.5, weight: 1.25, flag: true, born: 0, blob: Array("abc".utf8), price: "2.5", nums: [1, 2, 3], words: ["a", "b"], boss: nil, friends: [1, 2], home: 0),
    Row(name: "anna", age: nil, score: nil, weight: 2.5, flag: false, born: 100, blob: [], price: nil, nums: [], words: [], boss: 0, friends: [], home: nil),
    Row(name: nil, age: -5, score: .nan, weight: -0.0, flag: nil, born: nil, blob: nil, price: "-1", nums: [5, 5], words: [nil], boss: 0, friends: [0, 0, 3], home: 1),
    Row(name: "", age: 0, score: 0, weight: 0.1, flag: true, born: -50, blob: [0, 255], price: "0.1", nums: [nil], words: [""], boss: 2, friends: [7], home: 0),
    Row(name: "Ägir", age: 30, score: .infinity, weight: 1000, flag: false, born: 100, blob: Array("abcdef".utf8), price: "100", nums: [0], words: ["B", "a", "a"], boss: 3, friends: [3, 4], home: 2),
    Row(name: "Zoë*?", age: 7, score: -2, weight: 3.5, flag: nil, born: 1, blob: Array("b".utf8), price: "2.50", nums: [2, 2, 2], words: ["x%y", "line\nbreak"], boss: 4, friends: [1], home: 2),
    Row(name: "Bob", age: 41, score: -.infinity, weight: 7, flag: true, born: 1_000_000, blob: Array("ABC".utf8), price: "1E2", nums: [nil, 1], words: ["long enough for two words"], boss: nil, friends: [6], home: nil),
    Row(name: "日本", age: 9_007_199_254_740_993, score: 9_007_199_254_740_992, weight: 0, flag: false, born: 200, blob: Array("abc".utf8), price: nil, nums: [3], words: ["日"], boss: 7, friends: [], home: 1),
  ]
  private static let homes: [(city: String?, size: Int64?)] = [("Oslo", 1), (nil, 5), ("Bergen", nil)]

  init(_ backend: any StorageBackend) throws {
    engine = try backend.open(OpenOptions())
    let catalog = try engine.adopt(Corpus.schema)
    self.catalog = catalog
    guard let people = catalog["Person"], let places = catalog["Home"] else { return }
    var keys: [Int64] = []
    try engine.write { write in
      let homes = try Corpus.homes.map { home in
        try write.insert(places, ["city": home.city.map(Value.string) ?? .null, "size": home.size.map(Value.int) ?? .null])
      }
      for row in Corpus.rows { keys.append(try write.insert(people, Corpus.values(row)).rawValue) }
      for (row, key) in zip(Corpus.rows, keys.map { ObjectKey($0) }) {
        func fill(_ name: String, _ values: [Value]) throws {
          if !values.isEmpty { try write.edit(people.column(named: name), key, .insert(at: 0, values)) }
        }
        try fill("nums", row.nums.map { $0.map(Value.int) ?? .null })
        try fill("words", row.words.map { $0.map(Value.string) ?? .null })
        try fill("friends", row.friends.map { .link(ObjectKey(keys[$0])) })
        if let boss = row.boss { try write.set(people.column(named: "boss"), key, word: keys[boss]) }
        if let home = row.home { try write.set(people.column(named: "home"), key, word: homes[home].rawValue) }
      }
    }
    self.keys = keys
  }

  private static func values(_ row: Row) -> [String: Value] {
    func date(_ seconds: Int) -> Value { .date(Timestamp(secondsSince1970: Int64(seconds))) }
    return [
      "name": row.name.map(Value.string) ?? .null, "age": row.age.map(Value.int) ?? .null,
      "score": row.score.map(Value.double) ?? .null, "weight": .float(row.weight), "flag": row.flag.map(Value.bool) ?? .null,
      "born": row.born.map(date) ?? .null, "blob": row.blob.map { .data(Data($0)) } ?? .null,
      "price": row.price.flatMap { Decimal128($0) }.map(Value.decimal) ?? .null,
    ]
  }
}

extension Corpus {
  static var all: [(condition: String, rows: [Int])] { scalars + paths + owners + ordered + orderedByOwners }

  /// With clauses: the rows in order.
  static let ordered: [(condition: String, rows: [Int])] = [
    ("TRUEPREDICATE SORT(age ASC)", [1, 2, 3, 5, 0, 4, 6, 7]), ("TRUEPREDICATE SORT(age DESC)", [7, 6, 0, 4, 5, 3, 2, 1]),
    ("TRUEPREDICATE SORT(name ASC)", [2, 3, 0, 6, 5, 1, 4, 7]), ("TRUEPREDICATE SORT(name DESC)", [7, 4, 1, 5, 6, 0, 3, 2]),
    ("TRUEPREDICATE SORT(score ASC)", [1, 2, 6, 5, 3, 0, 7, 4]), ("TRUEPREDICATE SORT(score DESC)", [4, 7, 0, 3, 5, 6, 2, 1]),
    ("TRUEPREDICATE SORT(price ASC)", [1, 7, 2, 3, 0, 5, 4, 6]), ("TRUEPREDICATE SORT(price DESC)", [4, 6, 0, 5, 3, 2, 1, 7]),
    ("TRUEPREDICATE SORT(weight ASC)", [2, 7, 3, 0, 1, 5, 6, 4]), ("TRUEPREDICATE SORT(flag ASC, age DESC)", [5, 2, 7, 4, 1, 6, 0, 3]),
    ("TRUEPREDICATE SORT(flag ASC) SORT(age DESC)", [7, 6, 4, 0, 5, 3, 2, 1]),
    ("TRUEPREDICATE SORT(boss.age ASC)", [3, 4, 1, 2, 5, 7, 0, 6]), ("TRUEPREDICATE SORT(home.city ASC)", [2, 7, 4, 5, 0, 3, 1, 6]),
    ("TRUEPREDICATE SORT(home.city DESC)", [1, 6, 0, 3, 4, 5, 2, 7]), ("TRUEPREDICATE SORT(home.size ASC)", [4, 5, 0, 3, 2, 7, 1, 6]),
    ("TRUEPREDICATE LIMIT(3)", [0, 1, 2]), ("TRUEPREDICATE LIMIT(0)", []), ("TRUEPREDICATE OFFSET(6)", [6, 7]),
    ("TRUEPREDICATE SORT(age DESC) LIMIT(2)", [7, 6]), ("TRUEPREDICATE LIMIT(2) SORT(age DESC)", [0, 1]),
    ("TRUEPREDICATE LIMIT(4) SORT(name DESC)", [1, 0, 3, 2]), ("TRUEPREDICATE SORT(age ASC) OFFSET(2) LIMIT(2)", [3, 5]),
    ("TRUEPREDICATE SORT(age ASC) LIMIT(4) OFFSET(3)", [5]), ("TRUEPREDICATE DISTINCT(age)", [0, 1, 2, 3, 5, 6, 7]),
    ("TRUEPREDICATE DISTINCT(flag)", [0, 1, 2]), ("TRUEPREDICATE SORT(age DESC) DISTINCT(flag)", [7, 6, 5]),
    ("TRUEPREDICATE DISTINCT(price)", [0, 1, 2, 3, 4]), ("TRUEPREDICATE DISTINCT(home.city)", [0, 2, 4]),
    ("TRUEPREDICATE DISTINCT(boss)", [0, 1, 3, 4, 5, 7]), ("TRUEPREDICATE DISTINCT(flag, age) LIMIT(2)", [0, 1]),
    ("TRUEPREDICATE DISTINCT(flag) SORT(age ASC)", [1, 2, 0]), ("age > 0 SORT(age DESC) DISTINCT(age) LIMIT(3)", [7, 6, 0]),
    ("TRUEPREDICATE LIMIT(5) LIMIT(2)", [0, 1]), ("flag == YES SORT(age ASC)", [3, 0, 6]),
  ]
}
