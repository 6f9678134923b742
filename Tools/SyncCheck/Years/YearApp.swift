#if Sync
import Foundation
import StorageLMDB
import SyncClient
import SyncProtocol
import Vivarium

/// A device with the app of a year, which knows the types of that year and no later ones.
@MainActor final class YearApp {
  let year: Int
  let name: String
  let store: Store
  let replicator: Replicator

  init(_ name: String, year: Int, host: HostConnector, in folder: URL) throws {
    (self.name, self.year) = (name, year)
    store = try YearApp.open(folder.appending(path: name), year: year)
    var options = Replicator.Options()
    (options.firstDelay, options.longestDelay) = (.milliseconds(5), .milliseconds(50))
    replicator = store.replicator(path: Years.path, connector: host, credentials: FixedToken("ann"), options: options)
  }

  private static func open(_ file: URL, year: Int) throws -> Store {
    var configuration = Store.Configuration.lmdb(file, models: FirstYear.Person.self)
    if year == 2 { configuration.models = [SecondYear.Person.self] }
    if year == 3 { configuration.models = [ThirdYear.Person.self, ThirdYear.Place.self] }
    configuration.replicate()
    return try Store(configuration)
  }

  /// Writes something of its year; whether it did, and what everybody has to see then.
  func step(_ expected: inout YearPeople, _ random: inout SplitMix, most: Int) throws -> Bool {
    store.refresh()
    switch year {
    case 1: return try first(&expected, &random, most)
    case 2: return try second(&expected, &random)
    default: return try third(&expected, &random)
    }
  }

  private func first(_ expected: inout YearPeople, _ random: inout SplitMix, _ most: Int) throws -> Bool {
    let ids = expected.people.keys.sorted()
    let word = "n\(Int.random(in: 0..<1_000_000, using: &random))"
    guard ids.count > most / 2, Int.random(in: 0..<5, using: &random) > 0, let id = ids.randomElement(using: &random) else {
      let id = (ids.last ?? 0) + 1
      try store.write {
        _ = try store.create(FirstYear.Person.self, value: ["id": id, "name": word])
        if ids.count >= most, let oldest = store.object(FirstYear.Person.self, forPrimaryKey: ids[0]) { try store.delete(oldest) }
      }
      if ids.count >= most { expected.people[ids[0]] = nil }
      expected.people[id] = YearPeople.Person(name: word)
      return true
    }
    guard let person = store.object(FirstYear.Person.self, forPrimaryKey: id) else { return false }
    try store.write { person.name = word }
    expected.people[id]?.name = word
    return true
  }

  private func second(_ expected: inout YearPeople, _ random: inout SplitMix) throws -> Bool {
    guard let id = expected.people.keys.sorted().randomElement(using: &random),
      let person = store.object(SecondYear.Person.self, forPrimaryKey: id)
    else { return false }
    let word = "e\(Int.random(in: 0..<1_000_000, using: &random))"
    if Bool.random(using: &random) {
      try store.write { person.email = word }
      expected.people[id]?.email = word
    } else {
      try store.write {
        person.tags.append(word)
        if person.tags.count > 5 { person.tags.remove(at: 0) }
      }
      expected.people[id]?.tags.append(word)
      if expected.people[id]?.tags.count ?? 0 > 5 { expected.people[id]?.tags.removeFirst() }
    }
    return true
  }

  private func third(_ expected: inout YearPeople, _ random: inout SplitMix) throws -> Bool {
    if expected.visitors.isEmpty {
      try store.write {
        for id in 0..<YearPeople.placeCount { _ = try store.create(ThirdYear.Place.self, value: ["id": id]) }
      }
      for id in 0..<YearPeople.placeCount { expected.visitors[id] = 0 }
      return true
    }
    let place = Int.random(in: 0..<YearPeople.placeCount, using: &random)
    guard let id = expected.people.keys.sorted().randomElement(using: &random),
      let person = store.object(ThirdYear.Person.self, forPrimaryKey: id),
      let visited = store.object(ThirdYear.Place.self, forPrimaryKey: place)
    else { return false }
    try store.write {
      person.increment(\.visits)
      person.latest = visited
      visited.increment(\.visitors)
    }
    expected.people[id]?.visits += 1
    expected.people[id]?.latest = place
    expected.visitors[place, default: 0] += 1
    return true
  }

  // MARK: looking

  /// All that an app of a year shows of the file.
  var lines: [String] { YearApp.lines(of: store, year: year) }

  private static func lines(of store: Store, year: Int) -> [String] {
    store.refresh()
    switch year {
    case 1: return store.objects(FirstYear.Person.self).map { YearPeople.line($0.id, .init(name: $0.name), year: 1) }.sorted()
    case 2:
      return store.objects(SecondYear.Person.self)
        .map { YearPeople.line($0.id, .init(name: $0.name, email: $0.email, tags: Array($0.tags)), year: 2) }.sorted()
    default:
      let people = store.objects(ThirdYear.Person.self).map {
        let tags = Array($0.tags)
        let person = YearPeople.Person(name: $0.name, email: $0.email, tags: tags, visits: $0.visits, latest: $0.latest?.id)
        return YearPeople.line($0.id, person, year: 3)
      }
      return (people + store.objects(ThirdYear.Place.self).map { "place \($0.id): \($0.visitors)" }).sorted()
    }
  }

  /// What the newest app shows of a file that is closed, without a server: what came while the app was an older one.
  static func linesAfterUpdate(of name: String, in folder: URL) throws -> [String] {
    lines(of: try open(folder.appending(path: name), year: 3), year: 3)
  }
}
#endif
