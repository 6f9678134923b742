import ResultsControl
import Testing
import Vivarium

/// Words sorted by name, in sections by their first letter. The name of a test begins with the recorded scenario's. The delegate
/// also hears of the rows of sections that come and go.
@Suite struct SectionScenarios {
  private struct Words {
    let store: Store
    let controller: ResultsController<TaskItem, String>
    let recorder = Recorder<String>()

    init(_ words: [String]) throws {
      store = try makeStore(words.enumerated().map { ($0.offset, 0, $0.element) })
      controller = try ResultsController(
        request: ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.name)]),
        sectionedBy: .by(["name"]) { String($0.name.prefix(1)) }, mapper: \.name)
      controller.delegate = recorder
      controller.performFetch()
      _ = recorder.take()
    }

    func write(_ body: () throws -> Void) throws {
      try store.write(body)
      store.refresh()
    }

    func add(_ words: String...) throws {
      try write { for word in words { try store.add(TaskItem(id: 1_000 + abs(word.hashValue % 1_000_000_000), name: word)) } }
    }

    func word(_ name: String) throws -> TaskItem { try #require(store.objects(TaskItem.self).where { $0.name == name }.first) }

    /// What was heard: of sections, and of rows.
    func take() -> (sections: [String], rows: Set<String>) {
      let lines = recorder.take().filter { $0 != "will" && $0 != "did" }
      return (lines.filter { $0.contains(" section ") }, Set(lines.filter { !$0.contains(" section ") }))
    }
  }

  private static let fruit = ["banana", "apricot", "apple", "orange", "apples"]

  @Test("sections-01: the name of a section is asked for when it is fetched") func sections01() throws {
    let store = try makeStore([(1, 0, "a")])
    var asked = 0
    let controller = try ResultsController(
      request: ResultsRequest<TaskItem>(store: store, sortedBy: [SortKey(\TaskItem.name)]),
      sectionedBy: .by(["name"]) { word in
        asked += 1
        return word.name
      }, mapper: \.name)
    #expect(asked == 0)
    controller.performFetch()
    #expect(asked > 0)
  }

  @Test("sections-02, sections-03, sections-04: sections come where their rows come, and go with their last row") func sections02() throws {
    let words = try Words(SectionScenarios.fruit)
    #expect(words.controller.text == ["a: apple apples apricot", "b: banana", "o: orange"])
    try words.add("safari", "mail", "czar", "stocks", "cake", "any")
    var heard = words.take()
    #expect(heard.sections == ["insert section c 2", "insert section m 3", "insert section s 5"])
    #expect(
      heard.rows == [
        "insert any [0, 0] [0, 0]", "insert cake [2, 0] [2, 0]", "insert czar [2, 1] [2, 1]", "insert mail [3, 0] [3, 0]",
        "insert safari [5, 0] [5, 0]", "insert stocks [5, 1] [5, 1]",
      ])
    try words.write { try words.word("stocks").name = "stocksss" }
    heard = words.take()
    #expect(heard.sections == [] && heard.rows == ["update stocksss [5, 1] [5, 1]"])
    try words.write { for word in ["mail", "czar"] { try words.store.delete(try words.word(word)) } }
    heard = words.take()
    #expect(heard.sections == ["delete section m 3"] && heard.rows.contains("delete czar [2, 1] [2, 1]"))
  }

  @Test("sections-05, sections-06: rows that all go to another section") func sections05() throws {
    let words = try Words(SectionScenarios.fruit)
    try words.write { for name in ["apple", "apples", "apricot"] { try words.word(name).name = "x" + name } }
    #expect(words.take().sections == ["delete section a 0", "insert section x 2"])
    #expect(words.controller.text == ["b: banana", "o: orange", "x: xapple xapples xapricot"])
    try words.write { for name in ["xapple", "xapples", "xapricot"] { try words.word(name).name = "b" + name } }
    #expect(words.take().sections == ["delete section x 2"])
    #expect(words.controller.text == ["b: banana bxapple bxapples bxapricot", "o: orange"])
  }

  @Test("sections-07, sections-08: everything goes, and comes") func sections07() throws {
    let words = try Words(SectionScenarios.fruit)
    try words.write { try words.store.delete(words.store.objects(TaskItem.self)) }
    #expect(Set(words.take().sections) == ["delete section a 0", "delete section b 1", "delete section o 2"])
    try words.add("e", "d", "c", "b", "a")
    let heard = words.take()
    #expect(heard.sections == ["a", "b", "c", "d", "e"].enumerated().map { "insert section \($0.element) \($0.offset)" })
    #expect(heard.rows.count == 5)
  }

  @Test("sections-09, sections-10: a row that enters or leaves says in which sections") func sections09() throws {
    let words = try Words(SectionScenarios.fruit)
    try words.add("berry")
    #expect(words.take().rows == ["insert berry [1, 1] [1, 1]"])
    try words.write { try words.word("apples").name = "bees" }
    let heard = words.take()
    #expect(heard.sections == [] && heard.rows == ["move bees [0, 1] [1, 1]"])
  }

  @Test("sections-11, sections-12, sections-13: a section that went comes back where it was") func sections11() throws {
    let words = try Words(SectionScenarios.fruit)
    try words.write { for name in ["apple", "apples", "apricot"] { try words.store.delete(try words.word(name)) } }
    #expect(words.take().sections == ["delete section a 0"])
    try words.add("bus")
    #expect(words.take().rows == ["insert bus [0, 1] [0, 1]"])
    try words.add("ant")
    let heard = words.take()
    #expect(heard.sections == ["insert section a 0"] && heard.rows == ["insert ant [0, 0] [0, 0]"])
  }

  @Test("sections-14: an object that a row leads to") func sections14() throws {
    let words = try Words(["a"])
    try words.write { try words.word("a").assignedUser = User(id: 1) }
    _ = words.take()
    try words.write { words.store.objects(User.self).first?.name = "Ann" }
    let heard = words.take()
    #expect(heard.sections == [] && heard.rows == ["update a [0, 0] [0, 0]"])
  }

  @Test("sections-15: a copy of the sections stays") func sections15() throws {
    let words = try Words(SectionScenarios.fruit)
    let copy = words.controller.sections.map { Array($0) }
    try words.add("berry")
    #expect(copy == [["apple", "apples", "apricot"], ["banana"], ["orange"]])
  }
}
