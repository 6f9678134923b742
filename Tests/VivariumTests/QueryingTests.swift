import Foundation
import QueryEngine
import StorageInterface
import StoreValues
import Testing
import VivariumTestSupport

@testable import Vivarium

@Model final class Answer {
  var to: Message?
}

@Suite struct QueryingTests {
  private let store: Store
  private var people: Results<Person> { store.objects(Person.self) }

  init() throws { store = try Self.filled() }

  private static func filled(misuse: MisusePolicy = .trapInDebug) throws -> Store {
    let store = try makeStore(misuse: misuse)
    try store.write {
      for (i, (name, age)) in [("Ann", 40), ("Bob", 12), ("Cid", 18), ("Dan", 40), ("Eve", 7)].enumerated() {
        let person = Person(name: name, age: age)
        try store.add(person)
        person.nick = i < 2 ? "n\(i)" : nil
        for number in 0..<i { person.dogs.append(Dog(name: "d\(number)", age: number)) }
      }
    }
    return store
  }

  @Test func textSelectsWithItsArguments() throws {
    #expect(people.filter("age >= %@", 18).map(\.name) == ["Ann", "Cid", "Dan"])
    #expect(people.filter("%K BEGINSWITH[c] %@ OR age IN %@", "name", "b", [7, 18]).map(\.name) == ["Bob", "Cid", "Eve"])
    #expect(people.filter("age BETWEEN %@", 12...18).map(\.name) == ["Bob", "Cid"])
    #expect(people.filter("nick == %@", String?.none).count == 3)
    #expect(people.filter("ANY dogs.age > $0", 1).map(\.name) == ["Dan", "Eve"])
    #expect(people.filter("dogs.@count == 2").map(\.name) == ["Cid"])
    #expect(people.filter("SELF.age < 10").map(\.name) == ["Eve"])
    let ann = try #require(people.first)
    #expect(people.filter("id == %@", ann.id).map(\.name) == ["Ann"])
    let dog = try #require(store.objects(Dog.self).first)
    #expect(people.filter("ANY dogs == %@", QueryArgument.object(dog)).map(\.name) == ["Bob"])
  }

  @Test func clausesInTextApplyFromLeftToRight() throws {
    #expect(people.filter("TRUEPREDICATE SORT(age DESC, name DESC) LIMIT(2)").map(\.name) == ["Dan", "Ann"])
    #expect(people.filter("TRUEPREDICATE LIMIT(2) SORT(age ASC)").map(\.name) == ["Bob", "Ann"])
    #expect(people.filter("TRUEPREDICATE DISTINCT(age)").map(\.name) == ["Ann", "Bob", "Cid", "Eve"])
    #expect(people.filter("TRUEPREDICATE OFFSET(3)").map(\.name) == ["Dan", "Eve"])
    #expect(people.filter("TRUEPREDICATE LIMIT(3)").filter("age < 20").map(\.name) == ["Bob", "Cid"])
    #expect(people.filter("age > 0 SORT(age ASC) LIMIT(3)").count == 3)
    #expect(people.filter("age > 0 DISTINCT(age)").count == 4)
  }

  @Test func distinctAndOffsetAreThereWithoutText() throws {
    #expect(people.distinct(by: \.age).map(\.name) == ["Ann", "Bob", "Cid", "Eve"])
    #expect(people.sorted(by: \.name, ascending: false).distinct(by: \.age).map(\.name) == ["Eve", "Dan", "Cid", "Bob"])
    #expect(people.distinct(byKeyPaths: ["age"]).where { $0.age > 12 }.map(\.name) == ["Ann", "Cid"])
    #expect(people.offset(by: 4).map(\.name) == ["Eve"])
    #expect(people.offset(by: 1).limited(to: 2).map(\.name) == ["Bob", "Cid"])
    #expect(people.distinct(by: \.isAdult).error?.code == .unknownProperty)
  }

  @Test func clausesBehindAnIndexedNumberCount() throws {
    let forty = people.where { $0.age == 40 }
    #expect(forty.count == 2)
    let shortened = [
      forty.offset(by: 1), forty.distinct(by: \.age), people.filter("age == 40 OFFSET(1)"), people.filter("age == 40 LIMIT(1)"),
    ]
    for results in shortened {
      #expect(results.count == 1)
      #expect(results.map(\.age) == [40] && results.error == nil)
    }
  }

  /// Both types have the property: it is the element's.
  @Test func aSubqueryWithoutItsVariableStaysLive() throws {
    let owners = people.filter("SUBQUERY(dogs, $d, age > 3).@count > 0")
    let owner = try #require(people.last)
    var heard: [[Int]] = []
    let token = owners.observe { if case .update(_, _, let inserted, _) = $0 { heard.append(inserted) } }
    store.refresh()
    #expect(owners.isEmpty)
    try store.write { owner.dogs[0].age = 10 }
    store.refresh()
    #expect(owners.map(\.name) == [owner.name] && heard == [[0]])
    token.stop()
  }

  /// No change of a person tells that the object is there now: so its coming must not change any answer.
  @Test func anObjectThatIsNotThereYetDiffersFromAll() throws {
    let store = try Store(.reference(nil, models: [Answer.self, Message.self]))
    let answer = Answer()
    try store.write { try store.add(answer) }
    let others = store.objects(Answer.self).filter("to != obj('Message', 9)")
    let same = store.objects(Answer.self).filter("to == obj('Message', 9)")
    #expect(others.count == 1 && same.isEmpty)
    try store.write { try store.add(Message(number: 9, shout: "nine")) }
    #expect(others.count == 1 && same.isEmpty)
    try store.write { answer.to = store.object(Message.self, forPrimaryKey: 9) }
    #expect(others.isEmpty && same.count == 1)
  }

  @Test func numbersBeyondAFloatAreNotInfinity() throws {
    let store = try Store(.reference(nil, models: [Everything.self]))
    try store.write {
      for number in [Float.infinity, 1, -Float.infinity] {
        let object = Everything()
        try store.add(object)
        (object.float, object.double) = (number, Double(number))
      }
    }
    func found(_ condition: String) -> [Float] { store.objects(Everything.self).filter(condition).map(\.float) }
    #expect(found("float == 1e300").isEmpty && found("float != 1e300").count == 3)
    #expect(found("float <= 1e300") == [1, -Float.infinity] && found("float > 1e300") == [.infinity])
    #expect(found("float >= -1e300") == [.infinity, 1] && found("float < -1e300") == [-Float.infinity])
    let beyond = try #require(Decimal128("1e400"))
    let objects = store.objects(Everything.self)
    #expect(objects.filter("double == %@", beyond).isEmpty && objects.filter("double > %@", beyond).map(\.float) == [.infinity])
    #expect(objects.filter("float == %@", beyond).isEmpty && objects.filter("float <= %@", beyond).count == 2)
  }

  @Test func distinctResultsStayLive() throws {
    let ages = people.distinct(by: \.age)
    #expect(ages.count == 4)
    try store.write { try store.add(Person(name: "Fay", age: 99)) }
    #expect(ages.map(\.name) == ["Ann", "Bob", "Cid", "Eve", "Fay"])
    try store.write { people[0].age = 12 }
    #expect(ages.map(\.name) == ["Ann", "Cid", "Dan", "Eve", "Fay"])
  }

  @Test func aMistakeIsKeptOrThrownWithItsPosition() throws {
    let people = try Self.filled(misuse: .ignore).objects(Person.self)
    let kept = people.filter("age >")
    #expect(kept.isEmpty && kept.error?.code == .invalidQuery)
    #expect(people.filter("years > 1").error?.code == .invalidQuery)
    #expect(people.filter("age > %@").error?.code == .invalidQuery)
    #expect(throws: StoreError.self) { try people.filter(format: "age >") }
    #expect(throws: StoreError.self) { try people.filter(format: "years > 1") }
    do throws(StoreError) {
      _ = try people.filter(format: "age > 'x")
      Issue.record("It was accepted.")
    } catch { #expect((error.underlying as? QueryError)?.position == 6) }
    do throws(StoreError) {
      _ = try people.filter(format: "age > 3 AND naem == 'x'")
      Issue.record("It was accepted.")
    } catch {
      #expect((error.underlying as? QueryError)?.position == 12)
      #expect(error.details["position"] == "12" && error.message.hasSuffix("At byte 12."), "\(error)")
    }
    #expect(try people.filter(format: "age > %@", arguments: [12]).count == 3)
  }

  /// As many as a search field or a selection may join in a loop.
  @Test func manyAlternativesAreAskedInEveryDoor() throws {
    let names = ["Ann", "Eve"] + (0..<2_000).map { "nobody \($0)" }
    let byText = people.filter(names.map { "name == '\($0)'" }.joined(separator: " OR "))
    let byClosure = people.where { person in names.dropFirst().reduce(person.name == names[0]) { $0 || person.name == $1 } }
    #expect(byText.error == nil && byText.map(\.name) == ["Ann", "Eve"])
    #expect(byClosure.error == nil && byClosure.map(\.name) == ["Ann", "Eve"] && byClosure.query == byText.query)
    let byBoth = people.where { person in names.dropFirst().reduce(person.name != names[0]) { $0 && person.name != $1 } }
    #expect(byBoth.error == nil && byBoth.map(\.name) == ["Bob", "Cid", "Dan"])
    #expect(people.where { ($0.age > 30 || $0.age < 10) || ($0.name == "Bob" || $0.name == "Cid") }.count == 5)
  }

  @Test func resultsSayWhatTheyAskAsText() throws {
    let adults = people.where { $0.age >= 18 }.sorted(by: \.name)
    #expect(adults.format == "age >= 18 SORT(name ASC)")
    #expect(people.filter(adults.format).map(\.name) == adults.map(\.name))
  }

  @Test func predicatesOfFoundationMeanTheSame() throws {
    #expect(people.filter(#Predicate<Person> { $0.age >= 18 }).map(\.name) == ["Ann", "Cid", "Dan"])
    #expect(people.filter(#Predicate<Person> { $0.age == 40 && !$0.name.contains("D") }).map(\.name) == ["Ann"])
    #expect(people.filter(#Predicate<Person> { $0.name.starts(with: "B") || $0.age + 1 < 10 }).map(\.name) == ["Bob", "Eve"])
    let wanted = [7, 12]
    #expect(people.filter(#Predicate<Person> { wanted.contains($0.age) }).map(\.name) == ["Bob", "Eve"])
    #expect(people.filter(#Predicate<Person> { (10...20).contains($0.age) }).map(\.name) == ["Bob", "Cid"])
    #expect(people.filter(#Predicate<Person> { $0.nick == nil }).count == 3)
    #expect(people.filter(#Predicate<Person> { $0.dogs.contains { $0.age > 1 } }).map(\.name) == ["Dan", "Eve"])
    #expect(people.filter(#Predicate<Person> { $0.dogs.allSatisfy { $0.age < 1 } }).map(\.name) == ["Ann", "Bob"])
    #expect(people.filter(#Predicate<Person> { $0.dogs.count == 2 }).map(\.name) == ["Cid"])
    #expect(people.filter(#Predicate<Person> { $0.best?.age == nil }).count == 5)
  }

  @Test func aClosureInAPredicateMayLookAtTheObjectRoundIt() throws {
    let grown = people.filter(#Predicate<Person> { person in person.dogs.contains { $0.age * 3 > person.age } })
    #expect(grown.map(\.name) == ["Eve"])
    #expect(people.filter("SUBQUERY(dogs, $d, $d.age * 3 > SELF.age).@count > 0").map(\.name) == ["Eve"])
    #expect(people.filter(grown.format).map(\.name) == ["Eve"])
    let alone = people.filter(#Predicate<Person> { person in person.dogs.allSatisfy { dog in dog.owners.count == 1 && dog.age < person.age } })
    #expect(alone.map(\.name) == ["Ann", "Bob", "Cid", "Dan", "Eve"])
  }

  @Test func anOrderByACountStaysLive() throws {
    let byDogs = people.sorted(byKeyPath: "dogs.@count", ascending: false)
    #expect(byDogs.map(\.name) == ["Eve", "Dan", "Cid", "Bob", "Ann"])
    try store.write { for number in 0..<5 { people[0].dogs.append(Dog(name: "x\(number)", age: number)) } }
    #expect(byDogs.map(\.name) == ["Ann", "Eve", "Dan", "Cid", "Bob"])
  }

  @Test func aQueryThatWasSentIsAskedAgain() throws {
    let adults = people.where { $0.age >= 18 }.sorted(by: \.name, ascending: false)
    let sent = try JSONEncoder().encode(try #require(adults.query))
    let query = try JSONDecoder().decode(Query.self, from: sent)
    #expect(store.objects(Person.self, matching: query).map(\.name) == ["Dan", "Cid", "Ann"])
    #expect(store.objects(Dog.self, matching: query).error?.code == .invalidQuery)
    #expect(people.limited(to: 2).where { $0.age > 1 }.query == nil)
  }

  @Test func aPredicateWithoutAFormNamesItsNode() throws {
    let people = try Self.filled(misuse: .ignore).objects(Person.self)
    let odd = people.filter(#Predicate<Person> { $0.age % 2 == 1 })
    #expect(odd.isEmpty && odd.error?.message.contains("IntRemainder") == true)
    #expect(people.filter(#Predicate<Person> { $0.isAdult }).error != nil)
  }
}
