/// What everybody has to see: each property is written by the apps of one year alone, one after the other, so there is one answer.
struct YearPeople {
  struct Person {
    var name = ""
    var email: String?
    var tags: [String] = []
    var visits = 0
    var latest: Int?
  }

  static let placeCount = 20

  var people: [Int: Person] = [:]
  /// How many visitors each place had; empty before the third year.
  var visitors: [Int: Int] = [:]

  /// As an app of a year shows it, a line an object.
  func lines(year: Int) -> [String] {
    let people = people.map { id, person in
      YearPeople.line(id, person, year: year)
    }
    let places = year < 3 ? [] : visitors.map { "place \($0.key): \($0.value)" }
    return (people + places).sorted()
  }

  static func line(_ id: Int, _ person: Person, year: Int) -> String {
    var line = "person \(id): \(person.name)"
    if year > 1 { line += " \(person.email ?? "-") \(person.tags)" }
    if year > 2 { line += " \(person.visits) \(person.latest.map { "\($0)" } ?? "-")" }
    return line
  }
}
