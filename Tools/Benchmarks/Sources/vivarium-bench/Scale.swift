import ArgumentParser
import Foundation
import StorageLMDB
import StorageSQLite
import Vivarium

/// An object with a long list, a large set and a large map, for `scale`.
@Model final class Shelf {
  var books: LiveList<Book>
  var numbers: LiveList<Int>
  var marks: LiveSet<Int>
  var friends: LiveSet<Book>
  var prices: LiveMap<Int>
}

@Model final class Book {
  @PrimaryKey var id = 0
  @Indexed var place = 0
  var best: Book?
  @Inverse(\Shelf.books) var shelves: LinkingObjects<Shelf>
}

/// Shows whether the cost of an edit follows the edit: the same edits of collections of different lengths, each in a commit of
/// its own that is not synced.
struct Scale: ParsableCommand {
  static let configuration = CommandConfiguration(abstract: "The cost of single edits in collections of different lengths.")
  @Option(help: "lmdb or sqlite.") var engine = "lmdb"
  @Option(help: "Lengths, separated by commas.") var counts = "10000,100000,1000000"
  @Option(help: "How often each edit is made; the median counts.") var runs = 15

  func run() throws {
    var names: [String] = []
    var table: [String: [Double]] = [:]
    let counts = counts.split(separator: ",").compactMap { Int($0) }
    for count in counts {
      for (name, seconds) in try measure(count) {
        if table[name] == nil { names.append(name) }
        table[name, default: []].append(seconds)
      }
    }
    print("| edit | " + counts.map { "\($0)" }.joined(separator: " | ") + " |")
    for name in names {
      print("| \(name) | " + (table[name] ?? []).map { String(format: "%.0f µs", $0 * 1e6) }.joined(separator: " | ") + " |")
    }
  }

  private func measure(_ count: Int) throws -> [(String, Double)] {
    let folder = FileManager.default.temporaryDirectory.appending(path: "vivarium-scale-\(getpid())-\(count)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "store")
    var configuration: Store.Configuration =
      engine == "sqlite" ? .sqlite(file, models: Shelf.self, Book.self) : .lmdb(file, models: Shelf.self, Book.self)
    configuration.durability = .relaxed
    configuration.manualDelivery = true
    let edits = try ScaleEdits(Store(configuration, isolation: nil), count, runs: runs)
    try edits.objects()
    try edits.lists()
    try edits.setsAndMaps()
    try edits.deletes()
    return edits.results
  }
}

/// The edits of one length.
private final class ScaleEdits {
  private let store: Store
  private let shelf: Shelf
  private let count: Int
  private let runs: Int
  private var random = SplitMix(seed: 23)
  private(set) var results: [(String, Double)] = []

  init(_ store: Store, _ count: Int, runs: Int) throws {
    (self.store, self.count, self.runs) = (store, count, runs)
    shelf = Shelf()
    try store.write {
      try store.add(shelf)
      let books = (0..<count).map { Book(id: $0, place: $0 % 1_000) }
      try store.add(books)
      shelf.books.append(contentsOf: books)
      shelf.numbers.append(contentsOf: 0..<count)
      shelf.marks.formUnion(0..<count)
      shelf.friends.formUnion(books)
      for i in 0..<count { shelf.prices["key \(i)"] = i }
    }
  }

  private func time(_ name: String, _ body: (Int) throws -> Void) throws {
    var walls: [Double] = []
    for _ in 0..<runs {
      let place = random.below(count - runs * 2)
      let begun = Clock.wall()
      try body(place)
      walls.append(Clock.wall() - begun)
    }
    results.append((name, walls.sorted()[runs / 2]))
  }

  private func edit(_ name: String, _ body: (Int) throws -> Void) throws {
    try time(name) { place in try store.write { try body(place) } }
  }

  private func book(_ place: Int) -> Book? { store.object(Book.self, forPrimaryKey: place) }

  func objects() throws {
    try edit("an empty write") { _ in }
    try edit("set a property") { book($0)?.place = 5 }
    try edit("set a link") { book($0)?.best = book($0 + 1) }
    var next = count
    try edit("add an object") { _ in
      next += 1
      try store.add(Book(id: next))
    }
    try time("inverse.count") { _ = book($0)?.shelves.count }
  }

  func lists() throws {
    try edit("list.append") { shelf.numbers.append($0) }
    try edit("list.insert in the middle") { shelf.numbers.insert(7, at: $0) }
    try edit("list.remove in the middle") { _ = shelf.numbers.remove(at: $0) }
    try edit("list[i] = x") { shelf.numbers[$0] = 9 }
    try edit("list.move") { shelf.numbers.move(from: $0, to: 5) }
    try edit("list of objects: append") { if let book = book($0) { shelf.books.append(book) } }
    try edit("list of objects: remove") { _ = shelf.books.remove(at: $0) }
    try time("list[i] after a commit") { place in
      try store.write { shelf.numbers[3] = place }
      _ = shelf.numbers[place]
    }
    try time("list.count after a commit") { place in
      try store.write { shelf.numbers[3] = place }
      _ = shelf.numbers.count
    }
  }

  func setsAndMaps() throws {
    try edit("set.insert") { _ = shelf.marks.insert(count + $0) }
    try edit("set.remove") { _ = shelf.marks.remove($0) }
    try time("set.contains") { _ = shelf.marks.contains($0) }
    try edit("set of objects: remove") { if let book = book($0) { _ = shelf.friends.remove(book) } }
    try edit("map[key] = x") { shelf.prices["key \($0)"] = 1 }
    try edit("map[new key] = x") { shelf.prices["new \($0)"] = 1 }
    try edit("map.removeValue") { shelf.prices.removeValue(forKey: "key \($0)") }
    try time("map[key]") { _ = shelf.prices["key \($0)"] }
  }

  func deletes() throws {
    try edit("delete an object that a list and a set have") { if let book = book($0) { try store.delete(book) } }
    try edit("delete ten of them") { place in
      for i in 0..<10 { if let book = book(place + i) { try store.delete(book) } }
    }
  }
}
