import Foundation
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Note {
  @PrimaryKey var number: Int
  @FullText var title: String?
  @FullText var body = ""
  var about: Note?
}

/// What one observer of notes heard: the numbers of the result, and positions.
private final class Heard {
  var calls: [String] = []

  func hear(_ change: CollectionChange<Results<Note>>) {
    switch change {
    case .initial(let notes): calls.append("\(notes.map(\.number))")
    case .update(let notes, let deletions, let insertions, let modifications):
      calls.append("\(notes.map(\.number)) -\(Array(deletions)) +\(Array(insertions)) *\(Array(modifications))")
    case .error(let error): calls.append("\(error.code.rawValue)")
    }
  }

  func take() -> [String] {
    defer { calls = [] }
    return calls
  }
}

@Suite struct FullTextTests {
  private static let bodies = [
    "A live database of objects", "Live music, every day", "Élan vital", "東京都に住んでいます", "", "database servers: dead or alive",
  ]

  private func open(_ engine: Engine) throws -> (Store, TemporaryDirectory) {
    let (configuration, directory) = engine.place([Note.self])
    let store = try Store(configuration)
    try store.write {
      for (number, body) in FullTextTests.bodies.enumerated() {
        try store.add(Note(number: number, title: number == 1 ? nil : "Note \(number)", body: body))
      }
    }
    return (store, directory)
  }

  @Test(arguments: Engine.allCases) func wordsAreFoundOnEveryEngine(engine: Engine) throws {
    let (store, directory) = try open(engine)
    defer { withExtendedLifetime(directory) {} }
    let notes = store.objects(Note.self)
    func found(_ words: String) -> [Int] { notes.where { $0.body.matches(text: words) }.map(\.number) }
    for (words, expected) in [
      ("live", [0, 1]), ("LIVE dat*", [0]), ("dat* -live", [5]), ("elan", [2]), ("東京", [3]), ("都", [3]), ("nothing", []),
      ("alive database", [5]), ("o* live", [0]),
    ] {
      #expect(found(words) == expected, "\(words)")
      #expect(notes.filter("body TEXT %@", words).map(\.number) == expected, "\(words)")
      #expect(notes.filter("NOT body TEXT %@", words).count == notes.count - expected.count, "\(words)")
    }
    #expect(notes.where { $0.title.matches(text: "note 2") }.map(\.number) == [2])
    #expect(notes.where { !$0.title.matches(text: "note") }.map(\.number) == [1])
    #expect(notes.where { $0.body.matches(text: "-live") }.error?.code == .invalidQuery)
  }

  @Test(arguments: Engine.allCases) func resultsFollowTheWords(engine: Engine) throws {
    let (store, directory) = try open(engine)
    defer { withExtendedLifetime(directory) {} }
    let heard = Heard()
    let token = store.objects(Note.self).where { $0.body.matches(text: "live dat* -server") }.observe { heard.hear($0) }
    store.refresh()
    #expect(heard.take() == ["[0]"])
    try store.write { try store.add(Note(number: 10, body: "Data that live long")) }
    store.refresh()
    #expect(heard.take() == ["[0, 10] -[] +[1] *[]"])
    let notes = store.objects(Note.self)
    try store.write { notes[1].body = "Live data of music" }
    store.refresh()
    #expect(heard.take() == ["[0, 1, 10] -[] +[1] *[]"])
    try store.write { notes[0].body += ", and more live data" }
    store.refresh()
    #expect(heard.take() == ["[0, 1, 10] -[] +[] *[0]"])
    try store.write { notes[0].body += " on a server" }
    store.refresh()
    #expect(heard.take() == ["[1, 10] -[0] +[] *[]"])
    try store.write { notes[2].body = "no such words" }
    store.refresh()
    #expect(heard.take() == [])
    try store.write { try store.delete(notes[1]) }
    store.refresh()
    #expect(heard.take() == ["[10] -[0] +[] *[]"])
    token.stop()
  }

  @Test(arguments: Engine.allCases) func wordsBehindALinkAreFollowedToo(engine: Engine) throws {
    let (store, directory) = try open(engine)
    defer { withExtendedLifetime(directory) {} }
    let notes = store.objects(Note.self)
    try store.write { notes[4].about = notes[0] }
    let heard = Heard()
    let token = notes.where { $0.about.body.matches(text: "dat*") }.observe { heard.hear($0) }
    store.refresh()
    #expect(heard.take() == ["[4]"])
    try store.write { notes[0].body = "nothing" }
    store.refresh()
    #expect(heard.take() == ["[] -[0] +[] *[]"])
    token.stop()
  }

  @Test func theBestComeFirst() throws {
    let (store, directory) = try open(.memory)
    defer { withExtendedLifetime(directory) {} }
    try store.write { try store.add(Note(number: 7, body: "live live live")) }
    let live = store.objects(Note.self).where { $0.body.matches(text: "live") }
    let ranked = try live.ranked(by: \.body, text: "live")
    #expect(ranked.map(\.object.number) == [7, 1, 0])
    #expect(zip(ranked, ranked.dropFirst()).allSatisfy { $0.score > $1.score })
    #expect(try store.objects(Note.self).ranked(by: \.title, text: "note -3").map(\.object.number) == [0, 2, 4, 5])
    do {
      _ = try live.ranked(by: \.body, text: "-live")
      Issue.record("words that cannot be looked for were")
    } catch { #expect(error.code == .invalidQuery && error.underlying is TextQueryError) }
  }
}
