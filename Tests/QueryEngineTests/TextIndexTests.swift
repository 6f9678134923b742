import Foundation
import QueryEngine
import QueryModel
import StorageInterface
import StorageLMDB
import StorageMemory
import StoreValues
import Testing
import VivariumTestSupport

/// An index of words finds what reading the texts finds, through whatever is written, and reads less.
@Suite struct TextIndexTests {
  private static func schema(isIndexed: Bool = true) -> Schema {
    Schema([
      ObjectSchema(
        "Note", .scalar("body", .string, optional: true, fullText: isIndexed), .scalar("title", .string, fullText: isIndexed),
        .scalar("year", .int64, indexed: true))
    ])
  }

  private static let vocabulary = [
    "live", "Live", "life", "data", "database", "dát", "server", "日本", "日本語", "本", "a", "ab", "b", "objects", "the",
  ]

  private static func text(_ random: inout SeededGenerator) -> String {
    if random.oneIn(40) { return (0..<200).map { "w\($0 % 90)" }.joined(separator: " ") }
    return (0..<random.below(9)).map { _ in vocabulary[random.below(vocabulary.count)] }.joined(separator: random.oneIn(4) ? "、" : " ")
  }

  private static let sought = [
    "live", "li*", "live data*", "dat* -server", "日", "本", "日本語", "a b", "a* b* -ab", "the live objects", "w1*", "w69 w70 -w71", "nothing",
    "live nothing", "d* s* l*", "-live the",
  ]

  /// What each condition gives is what each text, asked by itself, says; in an open write too.
  private func check(_ storage: any StorageReading, _ catalog: Catalog, _ seed: UInt64) throws {
    let table = try #require(catalog["Note"])
    var texts: [(key: Int64, body: String?, year: Int64)] = []
    try storage.scan(table.id, [], from: ObjectKey(0), hints: []) { batch in
      for row in 0..<batch.count where batch.isLive(at: row) { texts.append((batch.key(at: row).rawValue, nil, 0)) }
      return .proceed
    }
    for at in texts.indices {
      let key = ObjectKey(texts[at].key)
      if case .string(let body) = try storage.value(table.column(named: "body"), key) { texts[at].body = body }
      if case .int(let year) = try storage.value(table.column(named: "year"), key) { texts[at].year = year }
    }
    let other = try TextQuery("a*")
    for words in TextIndexTests.sought {
      let query = try TextQuery(words)
      let expected = texts.filter { $0.body.map { query.matches($0) } ?? false }
      for (condition, keys) in [
        ("body TEXT %@", expected.map(\.key)), ("body TEXT %@ AND year > 3", expected.filter { $0.year > 3 }.map(\.key)),
        ("body TEXT %@ AND year == 2", expected.filter { $0.year == 2 }.map(\.key)),
        ("body TEXT %@ AND body TEXT 'a*'", expected.filter { $0.body.map { other.matches($0) } ?? false }.map(\.key)),
        ("NOT body TEXT %@", texts.map(\.key).filter { key in !expected.contains { $0.key == key } }),
        ("body TEXT %@ LIMIT(2)", Array(expected.map(\.key).prefix(2))),
      ] {
        let bound = try BoundQuery(Query(type: "Note", parsing: condition, arguments: [.value(.string(words))]), in: catalog)
        try #require(try bound.keys(in: storage) == keys, "\(condition) \(words) seed \(seed)")
        try #require(try bound.count(in: storage) == keys.count, "\(condition) \(words) seed \(seed)")
      }
      let sorted = try BoundQuery(Query(type: "Note", parsing: "body TEXT %@ SORT(year DESC) LIMIT(3)", arguments: [.value(.string(words))]), in: catalog)
      let best = expected.sorted { ($1.year, $0.key) < ($0.year, $1.key) }.prefix(3).map(\.key)
      try #require(try sorted.keys(in: storage) == best, "\(words) seed \(seed)")
    }
  }

  private func change(_ write: any WriteTransaction, _ table: TableEntry, _ keys: inout [ObjectKey], _ random: inout SeededGenerator) throws {
    for _ in 0..<random.below(20) {
      if keys.isEmpty || random.oneIn(2) {
        var values: [String: Value] = ["title": .string("t"), "year": .int(Int64(random.below(6)))]
        if !random.oneIn(6) { values["body"] = .string(TextIndexTests.text(&random)) }
        keys.append(try write.insert(table, values))
        continue
      }
      let at = random.below(keys.count)
      switch random.below(4) {
      case 0:
        try write.delete(table.id, keys[at])
        keys.remove(at: at)
      case 1: try write.set(table.column(named: "body"), keys[at], bytes: nil)
      default:
        var text = TextIndexTests.text(&random)
        try text.withUTF8 { _ = try write.set(table.column(named: "body"), keys[at], bytes: UnsafeRawBufferPointer($0)) }
      }
    }
  }

  @Test(arguments: CorpusTests.Engine.allCases) func whateverIsWrittenTheWordsAreFound(_ kind: CorpusTests.Engine) throws {
    var random = SeededGenerator.forTest()
    let seed = random.seed
    let folder = TemporaryDirectory("texts")
    let backend = kind.backend(folder)
    var engine = try backend.open(OpenOptions())
    defer { engine.close() }
    var catalog = try engine.adopt(TextIndexTests.schema(isIndexed: random.oneIn(2)))
    var keys: [ObjectKey] = []
    for round in 0..<8 {
      let table = try #require(catalog["Note"])
      try engine.write { write in
        try change(write, table, &keys, &random)
        try write.beginSavepoint()
        var others = keys
        try change(write, table, &others, &random)
        if random.oneIn(4) { try check(write, catalog, seed) }
        if random.oneIn(2) {
          try write.rollbackToSavepoint()
        } else {
          try write.releaseSavepoint()
          keys = others
        }
        try check(write, catalog, seed)
      }
      let reading = try engine.beginRead()
      try check(reading, catalog, seed)
      reading.end()
      if round == 2 { catalog = try engine.adopt(TextIndexTests.schema(isIndexed: false)) }
      if round == 4 { catalog = try engine.adopt(TextIndexTests.schema()) }
      if round == 5, kind == .lmdb || kind == .sqlite {
        engine.close()
        engine = try backend.open(OpenOptions())
      }
    }
    if let engine = engine.powers.structure {
      let reading = try engine.beginRead()
      defer { reading.end() }
      try engine.verifyStructure(reading) { Issue.record("\($0) seed \(seed)") }
    }
  }

  // MARK: Work

  private func filled(_ kind: CorpusTests.Engine, _ folder: TemporaryDirectory) throws -> (any StorageEngine, Catalog) {
    let engine = try kind.backend(folder).open(OpenOptions())
    let catalog = try engine.adopt(TextIndexTests.schema())
    let table = try #require(catalog["Note"])
    try engine.write { write in
      for i in 0..<4_000 {
        let body = "note \(i) of everything" + (i % 100 == 0 ? " rare" : "") + (i % 2 == 0 ? " even" : "")
        try write.insert(table, ["body": .string(body), "title": .string("t"), "year": .int(Int64(i % 10))])
      }
    }
    return (engine, catalog)
  }

  private func work(_ engine: any StorageEngine, _ catalog: Catalog, _ text: String) throws -> (QueryStatistics, found: Int, explained: String) {
    let reading = try engine.beginRead()
    defer { reading.end() }
    let bound = try BoundQuery(Query(type: "Note", parsing: text), in: catalog)
    var statistics = QueryStatistics()
    let found = try bound.keys(in: reading, statistics: &statistics).count
    return (statistics, found, try bound.explain(in: reading).description)
  }

  @Test(arguments: [CorpusTests.Engine.memory, .lmdb]) func wordsReadEntriesAndNoTexts(_ kind: CorpusTests.Engine) throws {
    let folder = TemporaryDirectory("texts")
    let (engine, catalog) = try filled(kind, folder)
    defer { engine.close() }
    let one = try work(engine, catalog, "body TEXT 'rare'")
    #expect(one.found == 40 && one.0.entriesRead == 40 && one.0.rowsRead == 0 && one.0.rowsScanned == 0)
    #expect(one.explained.hasPrefix("index on body, 1 run; about 40 rows"))
    let beginning = try work(engine, catalog, "body TEXT 'rar*'")
    #expect(beginning.found == 40 && beginning.0.rowsRead == 0 && beginning.0.rowsScanned == 0)
    // Half of all notes are even: reading 40 texts is less than reading 2,000 entries.
    let two = try work(engine, catalog, "body TEXT 'rare even'")
    #expect(two.found == 40 && two.0.entriesRead == 40 && two.0.rowsRead == 40 && two.0.rowsScanned == 0)
    let both = try work(engine, catalog, "body TEXT 'everything even'")
    #expect(both.found == 2_000 && both.0.entriesRead == 6_000 && both.0.rowsRead == 0 && both.0.rowsScanned == 0)
    let without = try work(engine, catalog, "body TEXT 'rare -even'")
    #expect(without.found == 0 && without.0.rowsRead == 40 && without.0.rowsScanned == 0)
    let more = try work(engine, catalog, "year == 0 AND body TEXT 'rare'")
    #expect(more.found == 40 && more.0.rowsRead == 40 && more.0.rowsScanned == 0)
    let unique = try work(engine, catalog, "body TEXT '3999'")
    #expect(unique.found == 1 && unique.0.entriesRead == 1 && unique.0.rowsRead == 0)
    let none = try work(engine, catalog, "body TEXT 'rare nothing'")
    #expect(none.found == 0 && none.0.entriesRead == 0 && none.0.rowsRead == 0)
    #expect(try work(engine, catalog, "NOT body TEXT 'rare'").0.rowsScanned == 4_000)
  }

  @Test func anEngineWithoutTheIndexReadsTheTexts() throws {
    let folder = TemporaryDirectory("texts")
    let (engine, catalog) = try filled(.sqlite, folder)
    defer { engine.close() }
    let one = try work(engine, catalog, "body TEXT 'rare'")
    #expect(one.found == 40 && one.0.rowsScanned == 4_000)
  }

  /// A text that is changed adds and removes the words that differ, and no others.
  @Test func onlyWordsThatDifferChange() throws {
    let engine = try MemoryBackend().open(OpenOptions())
    defer { engine.close() }
    let catalog = try engine.adopt(TextIndexTests.schema())
    let table = try #require(catalog["Note"])
    let index = try #require(table.textIndexes.first { $0.property == table.id("body") })
    try engine.write { write in
      let key = try write.insert(table, ["body": .string("a b c a b"), "title": .string(""), "year": .int(0)])
      let texts = try #require(write.powers.texts)
      #expect(try texts.count(of: [], isPrefix: true, in: index.id) == 3)
      var text = "c d"
      try text.withUTF8 { _ = try write.set(table.column(named: "body"), key, bytes: UnsafeRawBufferPointer($0)) }
      #expect(try texts.count(of: [], isPrefix: true, in: index.id) == 2)
      #expect(try texts.count(of: Array("c".utf8), isPrefix: false, in: index.id) == 1)
      #expect(try texts.count(of: Array("a".utf8), isPrefix: false, in: index.id) == 0)
      try write.delete(table.id, key)
      #expect(try texts.count(of: [], isPrefix: true, in: index.id) == 0)
    }
  }

  @Test func aFileWithAnIndexOfWordsIsOfItsOwnFormat() throws {
    let plain = try Catalog().adopting(TextIndexTests.schema(isIndexed: false)).catalog
    let indexed = try plain.adopting(TextIndexTests.schema())
    #expect(plain.formatNeeded == 1 && indexed.catalog.formatNeeded == 4)
    #expect(
      indexed.steps == [
        .addedIndex(type: "Note", properties: ["body"], isUnique: false), .addedIndex(type: "Note", properties: ["title"], isUnique: false),
      ])
    #expect(try indexed.catalog.adopting(TextIndexTests.schema()).steps.isEmpty)
    let dropped = try indexed.catalog.adopting(TextIndexTests.schema(isIndexed: false))
    #expect(dropped.steps.count == 2 && dropped.catalog["Note"]?.textIndexes.isEmpty == true)
  }

  @Test(arguments: [ValueType.int64, .data, .mixed]) func onlyTextHasWords(_ type: ValueType) {
    #expect(throws: CatalogConflict.self) {
      try Catalog().adopting(Schema([ObjectSchema("Note", .scalar("body", type, optional: true, fullText: true))]))
    }
  }
}
