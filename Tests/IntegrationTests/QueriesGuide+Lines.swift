// The lines of Docs/Queries.md, to the letter: `QueriesGuideTests` compares the page and asks them.
import Foundation
import Vivarium

extension QueriesGuide {
  // Lines: Values
  static var values: [Line] {
    [
      Line({ $0.age >= 18 }, "age >= 18", #Predicate { $0.age >= 18 }, finds: "Ann Cid Dän"),
      Line({ 18 <= $0.age }, "18 <= age", #Predicate { 18 <= $0.age }, finds: "Ann Cid Dän"),
      Line(
        { $0.age > 12 && $0.height < 1.9 }, "age > 12 AND height < 1.9",
        #Predicate { $0.age > 12 && $0.height < 1.9 }, finds: "Ann Cid"),
      Line({ !($0.age == 40) }, "NOT age == 40", #Predicate { !($0.age == 40) }, finds: "Bob Cid"),
      Line({ $0.age.in([12, 18]) }, "age IN {12, 18}", #Predicate { [12, 18].contains($0.age) }, finds: "Bob Cid"),
      Line({ $0.age.in(12...18) }, "age BETWEEN {12, 18}", #Predicate { (12...18).contains($0.age) }, finds: "Bob Cid"),
      Line({ $0.age.in(12..<18) }, "age >= 12 AND age < 18", #Predicate { (12..<18).contains($0.age) }, finds: "Bob"),
      Line({ $0.mood == .wild }, "mood == 'wild'", nil, finds: "Bob"),
      Line({ $0.mood.rawValue.starts(with: "w") }, "mood BEGINSWITH 'w'", nil, finds: "Bob"),
      Line({ $0.nick == nil }, "nick == NULL", #Predicate { $0.nick == nil }, finds: "Cid Dän"),
      Line({ $0.limit > 5 }, "limit > 5", nil, finds: "Bob"),
      Line({ $0.limit.in([3, nil]) }, "limit IN {3, NULL}", nil, finds: "Ann Cid Dän"),
    ]
  }

  // Lines: Property against property
  static var pairs: [Line] {
    [
      Line({ $0.nick == $0.alias }, "nick == alias", #Predicate { $0.nick == $0.alias }, finds: "Ann Dän"),
      Line({ $0.limit == $0.age }, "limit == age", nil, finds: "Bob"),
      Line({ $0.limit < $0.age }, "limit < age", nil, finds: "Ann"),
      Line({ $0.age.number(as: Double.self) > $0.height * 10 }, "age > height * 10", nil, finds: "Ann Dän"),
      Line({ $0.name.contains($0.nick) }, "name CONTAINS nick", nil, finds: "Ann"),
    ]
  }

  // Lines: Numbers
  static var numbers: [Line] {
    [
      Line({ $0.age + 2 == 20 }, "age + 2 == 20", #Predicate { $0.age + 2 == 20 }, finds: "Cid"),
      Line({ ($0.age - 10) * 2 < 17 }, "(age - 10) * 2 < 17", #Predicate { ($0.age - 10) * 2 < 17 }, finds: "Bob Cid"),
      Line({ $0.age / 7 == 5 }, "age / 7 == 5", nil, finds: "Ann Dän"),
      Line({ $0.limit + 1 > $0.age }, "limit + 1 > age", nil, finds: "Bob"),
      Line({ $0.age.power(2) == 144 }, "age ** 2 == 144", nil, finds: "Bob"),
    ]
  }

  // Lines: Text
  static var text: [Line] {
    [
      Line({ $0.name.contains("n") }, "name CONTAINS 'n'", #Predicate { $0.name.contains("n") }, finds: "Ann Dän"),
      Line({ $0.name.contains("AN", options: .caseInsensitive) }, "name CONTAINS[c] 'AN'", nil, finds: "Ann"),
      Line(
        { $0.name.contains("AN", options: [.caseInsensitive, .diacriticInsensitive]) }, "name CONTAINS[cd] 'AN'",
        nil, finds: "Ann Dän"),
      Line({ $0.name.starts(with: "B") }, "name BEGINSWITH 'B'", #Predicate { $0.name.starts(with: "B") }, finds: "Bob"),
      Line({ $0.nick.ends(with: "O", options: .caseInsensitive) }, "nick ENDSWITH[c] 'O'", nil, finds: "Bob"),
      Line({ $0.name.equals("ann", options: .caseInsensitive) }, "name ==[c] 'ann'", nil, finds: "Ann"),
      Line({ $0.name.folding(.caseInsensitive) < "bob" }, "name <[c] 'bob'", nil, finds: "Ann"),
      Line({ $0.name.folding(.caseInsensitive).in(["ANN", "CID"]) }, "name IN[c] {'ANN', 'CID'}", nil, finds: "Ann Cid"),
      Line({ $0.name.like("?o*") }, "name LIKE '?o*'", nil, finds: "Bob"),
      Line({ $0.name.matches("[A-C].+") }, "name MATCHES '[A-C].+'", nil, finds: "Ann Bob Cid"),
      Line({ $0.name.matches(text: "ann") }, "name TEXT 'ann'", nil, finds: "Ann"),
      Line({ $0.name.utf8Count == 4 }, "name.@count == 4", nil, finds: "Dän"),
    ]
  }

  // Lines: Links
  static var links: [Line] {
    [
      Line({ $0.boss.name == "Ann" }, "boss.name == 'Ann'", #Predicate { $0.boss?.name == "Ann" }, finds: "Bob Dän"),
      Line({ $0.boss.boss.age > 18 }, "boss.boss.age > 18", nil, finds: "Cid"),
      Line({ $0.boss == nil }, "boss == NULL", #Predicate { $0.boss == nil }, finds: "Ann"),
      Line({ $0.boss.dogs.count == 2 }, "boss.dogs.@count == 2", nil, finds: "Bob Dän"),
    ]
  }

  // Lines: Collections
  static var collections: [Line] {
    [
      Line({ $0.dogs.name == "Rex" }, "dogs.name == 'Rex'", nil, finds: "Ann"),
      Line({ $0.dogs.any.age > 3 }, "ANY dogs.age > 3", #Predicate { $0.dogs.contains { $0.age > 3 } }, finds: "Ann Bob"),
      Line({ $0.dogs.all.age > 3 }, "ALL dogs.age > 3", #Predicate { $0.dogs.allSatisfy { $0.age > 3 } }, finds: "Bob Cid Dän"),
      Line({ $0.dogs.none.age > 3 }, "NONE dogs.age > 3", #Predicate { !$0.dogs.contains { $0.age > 3 } }, finds: "Cid Dän"),
      Line({ $0.dogs.isEmpty }, "dogs.@count == 0", #Predicate { $0.dogs.isEmpty }, finds: "Cid Dän"),
      Line({ $0.dogs.count > $0.cats.count }, "dogs.@count > cats.@count", nil, finds: "Ann Bob"),
      Line({ $0.dogs[0].name == "Rex" }, "dogs[0].name == 'Rex'", nil, finds: "Ann"),
      Line({ $0.dogs.last.age < 5 }, "dogs[LAST].age < 5", nil, finds: "Ann"),
      Line({ $0.dogs.toys.price > 10 }, "dogs.toys.price > 10", nil, finds: "Ann"),
      Line(
        { $0.cats.all.name.contains("O", options: .caseInsensitive) && !$0.cats.isEmpty },
        "ALL cats.name CONTAINS[c] 'O' AND cats.@count != 0",
        nil, finds: "Ann"),
      Line({ $0.scores.contains(5) }, "ANY scores == 5", #Predicate { $0.scores.contains(5) }, finds: "Ann Bob"),
      Line({ $0.scores.any > 3 }, "ANY scores > 3", nil, finds: "Ann Bob"),
      Line({ $0.scores == [1, 5] }, "scores == {1, 5}", nil, finds: "Ann"),
      Line({ $0.tags.contains(anyOf: ["red", "blue"]) }, "ANY tags IN {'red', 'blue'}", nil, finds: "Ann"),
      Line({ $0.staff.name == "Bob" }, "staff.name == 'Bob'", nil, finds: "Ann"),
      Line({ $0.teams.count == 1 }, "@links.Team.members.@count == 1", nil, finds: "Ann Bob Cid Dän"),
    ]
  }

  // Lines: One element, several conditions
  static var elements: [Line] {
    [
      Line(
        { $0.dogs.contains { $0.age > 3 && $0.name == "Rex" } }, "SUBQUERY(dogs, $d, $d.age > 3 AND $d.name == 'Rex').@count > 0",
        #Predicate { $0.dogs.contains { $0.age > 3 && $0.name == "Rex" } }, finds: "Ann"),
      Line(
        { $0.dogs.allSatisfy { $0.age > 3 } }, "SUBQUERY(dogs, $d, NOT $d.age > 3).@count == 0",
        #Predicate { $0.dogs.allSatisfy { $0.age > 3 } }, finds: "Bob Cid Dän"),
      Line({ $0.dogs.count { $0.age < 5 } >= 2 }, "SUBQUERY(dogs, $d, $d.age < 5).@count >= 2", nil, finds: "Ann"),
      Line(
        { person in person.dogs.contains { dog in dog.toys.contains { $0.price > person.age } } },
        "SUBQUERY(dogs, $d, SUBQUERY($d.toys, $t, $t.price > SELF.age).@count > 0).@count > 0",
        nil, finds: "Ann"),
    ]
  }

  // Lines: Aggregates
  static var aggregates: [Line] {
    [
      Line({ $0.dogs.sum(of: \.age) > 5 }, "dogs.@sum.age > 5", nil, finds: "Ann Bob"),
      Line({ $0.dogs.average(of: \.age) == 3 }, "dogs.@avg.age == 3", nil, finds: "Ann"),
      Line({ $0.dogs.max(of: \.weight) < 10 }, "dogs.@max.weight < 10", nil, finds: "Bob"),
      Line({ $0.dogs.min(of: \.age) == 2 }, "dogs.@min.age == 2", nil, finds: "Ann"),
      Line({ $0.scores.sum() == 6 }, "scores.@sum == 6", nil, finds: "Ann"),
      Line({ $0.scores.max() == 5 }, "scores.@max == 5", nil, finds: "Ann Bob"),
    ]
  }

  // Lines: Maps, structs and mixed values
  static var inside: [Line] {
    [
      Line({ $0.phones["home"] == "12" }, "phones['home'] == '12'", nil, finds: "Bob"),
      Line({ $0.phones.any == "34" }, "ANY phones == '34'", nil, finds: "Bob"),
      Line({ $0.phones.keys.contains("work") }, "ANY phones.@keys == 'work'", nil, finds: "Bob"),
      Line({ $0.phones.count == 2 }, "phones.@count == 2", nil, finds: "Bob"),
      Line({ $0.friends["best"].age < 18 }, "friends['best'].age < 18", nil, finds: "Ann"),
      Line({ $0.friends.name == "Cid" }, "friends.name == 'Cid'", nil, finds: "Ann"),
      Line({ $0.address.city == "Ghent" }, "address.city == 'Ghent'", nil, finds: "Ann"),
      Line({ $0.address.zip > 8000 }, "address.postal\\ code > 8000", nil, finds: "Ann"),
      Line({ $0.second.city.starts(with: "O") }, "second.city BEGINSWITH 'O'", nil, finds: "Bob"),
      Line({ $0.extra == "text" }, "extra == 'text'", nil, finds: "Bob"),
      Line({ $0.extra["size"].int > 3 }, "extra['size'] > 3", nil, finds: "Ann"),
      Line({ $0.extra["parts"].elements == "b" }, "extra['parts'][*] == 'b'", nil, finds: "Ann"),
      Line({ $0.extra.typeName == "string" }, "extra.@type == 'string'", nil, finds: "Bob"),
    ]
  }

  static var all: [Line] { [values, pairs, numbers, text, links, collections, elements, aggregates, inside].flatMap(\.self) }
}
