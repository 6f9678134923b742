import Foundation
import QueryModel
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

/// Docs/Queries.md asked line by line.
@Suite struct QueriesGuideTests {
  private typealias Person = QueriesGuide.Person
  private typealias Dog = QueriesGuide.Dog
  private typealias Team = QueriesGuide.Team

  private static let models: [any SchemaDescribing.Type] = [Person.self, Dog.self, QueriesGuide.Toy.self, Team.self]

  private func filled(_ engine: Engine) throws -> (Store, TemporaryDirectory) {
    let (configuration, directory) = engine.place(Self.models)
    let store = try Store(configuration)
    try store.write {
      let team = Team()
      try store.add(team)
      for person in QueriesGuide.people() {
        try store.add(person)
        team.members.append(person)
        team.crew.insert(person)
        team.posts[person.name] = person
      }
    }
    return (store, directory)
  }

  @Test(arguments: Engine.allCases) func everyLineMeansTheSameInEachDoor(_ engine: Engine) throws {
    let (store, directory) = try filled(engine)
    defer { withExtendedLifetime(directory) {} }
    let people = store.objects(Person.self)
    for line in QueriesGuide.all {
      let found = people.where(line.closure)
      #expect(found.error == nil, "\(line.text): \(String(describing: found.error))")
      #expect(named(found) == line.names, "\(line.text) in a closure")
      #expect(named(try people.filter(format: line.text)) == line.names, "\(line.text) as a text")
      if let predicate = line.predicate { #expect(named(people.filter(predicate)) == line.names, "\(line.text) as a #Predicate") }
      // What is printed of the closure reads as the same condition.
      #expect(named(try people.filter(format: found.format)) == line.names, "\(found.format)")
    }
  }

  @Test(arguments: Engine.allCases) func everyLineCanBeAskedOfEachCollection(_ engine: Engine) throws {
    let (store, directory) = try filled(engine)
    defer { withExtendedLifetime(directory) {} }
    let team = try #require(store.objects(Team.self).first)
    for line in QueriesGuide.all {
      for collection: any AskedOfPeople in [team.members, team.crew, team.posts] {
        let (closure, text, predicate) = try #require(collection.asked(line))
        let names = Set(line.names.split(separator: " ").map(String.init))
        #expect(Set(closure.map(\.name)) == names && Set(text.map(\.name)) == names, "\(line.text) of \(type(of: collection))")
        if let predicate { #expect(Set(predicate.map(\.name)) == names, "\(line.text) of \(type(of: collection))") }
      }
    }
    let ann = try #require(store.object(Person.self, forPrimaryKey: "Ann"))
    #expect(ann.staff.where { $0.age < 18 }?.map(\.name) == ["Bob"])
    #expect(ann.staff.filter("age < 18")?.map(\.name) == ["Bob"])
    #expect(Person().staff.where { $0.age < 18 } == nil && Team().members.filter("age < 18") == nil)
  }

  @Test func aQuestionHasThreeDoors() throws {
    let (store, directory) = try filled(.memory)
    defer { withExtendedLifetime(directory) {} }
    let people = store.objects(Person.self)
    let byClosure = people.where { $0.dogs.name == "Rex" }
    let byText = people.filter("dogs.name == %@", "Rex")
    let byPredicate = people.filter(#Predicate { person in person.dogs.contains { $0.name == "Rex" } })
    #expect([byClosure, byText, byPredicate].map(named) == ["Ann", "Ann", "Ann"])
    let rex = try #require(store.objects(Dog.self).first)
    #expect(named(people.where { $0.dogs.contains(rex) || $0.cats.contains(anyOf: [rex]) }) == "Ann")
    #expect(named(people.where { $0.dogs.any == rex }) == "Ann")
    #expect(named(people.where { $0 != people[0] && !$0.boss.in([people[0]]) }) == "Cid")
  }

  @Test func anOrderGoesOverLinksAndNumbersOfCollections() throws {
    let (store, directory) = try filled(.memory)
    defer { withExtendedLifetime(directory) {} }
    let people = store.objects(Person.self)
    #expect(named(people.sorted { $0.boss.name }) == "Bob Dän Cid Ann")
    #expect(named(people.sorted(ascending: false) { $0.dogs.count }) == "Ann Bob Cid Dän")
    #expect(named(people.sorted { $0.dogs.max(of: \.age) }) == "Cid Dän Ann Bob")
    #expect(people.sorted { $0.age + 1 }.error?.code == .unknownProperty)
  }

  @Test func whatCannotBeAskedSaysSo() throws {
    let (store, directory) = try filled(.memory)
    defer { withExtendedLifetime(directory) {} }
    let people = store.objects(Person.self)
    #expect(people.where { $0.address.isFar }.error?.code == .invalidQuery)
    #expect(people.where { $0.dogs.any.age + $0.dogs.all.age > 3 }.error?.code == .invalidQuery)
    // A variable that left its closure names nobody.
    var kept: Field<Dog>?
    #expect(people.where { $0.dogs.contains { kept = $0; return $0.age > 8 } }.count == 1)
    let element = try #require(kept)
    #expect(people.where { _ in element.age > 8 }.error?.code == .invalidQuery)
  }

  @Test func theSameClosureIsTheSameQuestion() throws {
    let (store, directory) = try filled(.memory)
    defer { withExtendedLifetime(directory) {} }
    let people = store.objects(Person.self)
    let condition: (Field<Person>) -> Condition = { person in
      person.dogs.contains { dog in dog.toys.contains { $0.price > dog.age && $0.price > person.age } }
    }
    let (found, again) = (people.where(condition), people.where(condition))
    #expect(found.query == again.query)
    #expect(named(found) == "Ann")
  }

  @Test func thePageHasTheLinesThatAreAsked() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let source = try String(contentsOf: folder.appending(path: "QueriesGuide+Lines.swift"), encoding: .utf8)
    let page = try String(contentsOf: folder.appending(path: "../../Docs/Queries.md"), encoding: .utf8)
    let tables = Self.tables(of: source)
    #expect(tables.count(where: { $0 == "\n" }) > QueriesGuide.all.count)
    #expect(page.hasSuffix(tables), "Put these tables at the end of Docs/Queries.md:\n\(tables)")
  }

  /// The tables of the page, written from the lines in the source.
  private static func tables(of source: String) -> String {
    let line = /Line\( ?\{ (.*?) \}, "(.*?)", (nil|#Predicate \{ .*? \}), finds:/
    var text = ""
    for section in source.split(separator: "// Lines: ").dropFirst() {
      let title = section.prefix { $0 != "\n" }
      let code = section.dropFirst(title.count).split { $0.isWhitespace }.joined(separator: " ")
      text += "\(text.isEmpty ? "" : "\n")## \(title)\n\n| closure | text | `#Predicate` |\n|---|---|---|\n"
      for match in code.matches(of: line) {
        let predicate = match.3 == "nil" ? "" : "`\(match.3.dropFirst("#Predicate { ".count).dropLast(2))`"
        text += "| `\(match.1)` | `\(match.2.replacing("\\\\", with: "\\"))` | \(predicate) |\n"
      }
    }
    return text
  }

  private func named(_ people: Results<Person>) -> String { people.map(\.name).joined(separator: " ") }
}

/// A collection of people that a line can be asked of.
private protocol AskedOfPeople {
  func asked(_ line: QueriesGuide.Line) -> (Results<QueriesGuide.Person>, Results<QueriesGuide.Person>, Results<QueriesGuide.Person>?)?
}

extension AskedOfPeople where Self: QueriedCollection, Queried == QueriesGuide.Person {
  func asked(_ line: QueriesGuide.Line) -> (Results<QueriesGuide.Person>, Results<QueriesGuide.Person>, Results<QueriesGuide.Person>?)? {
    guard let closure = self.where(line.closure), let text = filter(line.text) else { return nil }
    return (closure, text, line.predicate.flatMap { filter($0) })
  }
}

extension LiveList: AskedOfPeople where Element == QueriesGuide.Person {}
extension LiveSet: AskedOfPeople where Element == QueriesGuide.Person {}
extension LiveMap: AskedOfPeople where Value == QueriesGuide.Person {}
