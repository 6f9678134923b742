import Foundation
import QueryModel
import StoreValues
import Testing

@testable import Vivarium

@Suite struct ResultsExplanationTests {
  /// 300 people, three of each age below 100.
  private func people() throws -> Store {
    let store = try makeStore()
    try store.write {
      for i in 0..<300 { try store.add(Person(name: "P\(i % 7)", age: i % 100)) }
    }
    return store
  }

  @Test func theIndexTheNumbersAndTheWayTheyAreKeptAreTold() throws {
    let store = try people()
    let some = store.objects(Person.self).where { $0.age == 7 }.sorted(by: \.name)
    let told = try some.explain()
    #expect(told.access == .index(properties: ["age"], runs: 1))
    #expect(told.estimatedRows == 3 && told.count == 3 && told.entriesRead == 3 && told.rowsScanned == 0)
    #expect(!told.testsEachRow && told.sorts && told.passedIndexes.isEmpty && told.time > .zero)
    #expect(told.upkeep == .rowByRow && told.obstacles.isEmpty && !told.isObserved)
    let lines = told.description.split(separator: "\n")
    #expect(lines.count == 4 && lines[0] == "Person: age == 7 SORT(name ASC)")
    #expect(lines[1] == "  index on age, 1 run: 3 objects; puts them in order")
    #expect(lines[2].hasPrefix("  3 objects in ") && lines[2].contains("3 index entries"))
    #expect(lines[3] == "  kept row by row when observed")
  }

  @Test func aLostIndexShows() throws {
    let store = try people()
    let all = store.objects(Person.self)
    // Most rows pass: the index is there and does not pay.
    let most = try all.where { $0.age > 10 }.explain()
    #expect(most.access == .scan(columns: ["age"]) && most.rowsScanned >= 300 && most.entriesRead == 0)
    #expect(most.passedIndexes.map(\.properties) == [["age"]] && most.passedIndexes.map(\.rows) == [267])
    #expect(most.description.contains("\n  not by the index on age: 267 objects\n"))
    // The same question as the first one, written so that no index answers it.
    let lost = try all.filter("age + 0 == 7").explain()
    guard case .scan = lost.access else {
      Issue.record("\(lost)")
      return
    }
    #expect(lost.passedIndexes.isEmpty && lost.testsEachRow && lost.count == 3 && lost.estimatedRows == 300)
  }

  @Test func whatFallsBackToAskingAgainIsToldWithTheReason() throws {
    let store = try people()
    let person = try #require(store.objects(Person.self).first)
    try store.write { person.dogs = [Dog(name: "Rex", age: 3)] }
    let all = store.objects(Person.self)
    let questions: [(results: Results<Person>, obstacles: [String])] = [
      (all.filter("ANY dogs.age > 3"), ["'ANY dogs.age' is a quantifier"]),
      (all.filter("SUBQUERY(dogs, $d, $d.age > 3).@count > 0"), ["'SUBQUERY(dogs, $d, $d.age > 3).@count' is a subquery"]),
      (all.distinct(by: \.name), ["of DISTINCT(name)"]),
      (all.limited(to: 5).sorted(by: \.name), ["they are asked of results with an order, a limit or a distinct of their own"]),
      (all.filter("TRUEPREDICATE LIMIT(5) SORT(name ASC)"), ["of an order behind another clause"]),
      (all.filter("dogs.age > 3"), []), (all.sorted(by: \.name).limited(to: 5), []),
      (all.filter("TRUEPREDICATE SORT((dogs.@count) DESC)"), []),
    ]
    for (results, obstacles) in questions {
      let told = try results.explain()
      #expect(told.obstacles == obstacles, "\(told)")
      #expect((told.upkeep == .askedAgain) == !obstacles.isEmpty, "\(told)")
    }
    let told = try all.filter("ANY dogs.age > 3 DISTINCT(name)").explain()
    #expect(told.obstacles.count == 2)
    #expect(
      told.description.hasSuffix(
        "asked again after commits that may change them, when observed, because of DISTINCT(name), and 'ANY dogs.age' is a quantifier"
      ))
  }

  @Test func resultsOfListsAndOfOtherResultsSayWhatTheyAreAskedOf() throws {
    let store = try people()
    let person = try #require(store.objects(Person.self).first)
    try store.write { person.dogs = LiveList((0..<4).map { Dog(name: "D\($0)", age: $0) }) }
    let grown = try #require(person.dogs.where { $0.age > 1 }).explain()
    #expect(grown.access == .list(property: "Person.dogs") && grown.estimatedRows == 4 && grown.count == 2)
    #expect(grown.upkeep == .askedAgain && grown.obstacles == ["they are elements of a list"])
    let some = try store.objects(Person.self).where { $0.age == 7 }.limited(to: 2).sorted(by: \.name).explain()
    guard case .results(let inner) = some.access else {
      Issue.record("\(some)")
      return
    }
    #expect(inner.access == .index(properties: ["age"], runs: 1) && inner.count == 2 && some.count == 2)
    #expect(some.description.contains("\n      index on age, 1 run: 3 objects\n"))
  }

  @Test func explainingAsksOnceAndLeavesTheResultsAsTheyWere() throws {
    let store = try people()
    let some = store.objects(Person.self).where { $0.age < 3 }
    let before = store.evaluationCount
    #expect(try some.explain().count == 9 && store.evaluationCount == before + 1)
    let token = some.observe { _ in }
    store.refresh()
    let evaluations = store.evaluationCount
    #expect(try some.explain().isObserved && some.count == 9)
    #expect(store.evaluationCount == evaluations + 1)
    token.stop()
    do throws(StoreError) {
      _ = try store.objects(Person.self).filter("agee > 3").explain()
      Issue.record("it was explained")
    } catch {
      #expect(error.code == .invalidQuery)
    }
  }
}
