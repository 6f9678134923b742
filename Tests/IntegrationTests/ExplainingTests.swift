import Testing
import Vivarium
import VivariumTestSupport

@Suite struct ExplainingTests {
  @Test(arguments: Engine.allCases) func everyEngineSaysHowItFinds(engine: Engine) throws {
    let (configuration, directory) = engine.place()
    defer { withExtendedLifetime(directory) {} }
    let store = try Store(configuration)
    try store.write { for pages in 0..<300 { try store.add(Book(title: "b\(pages % 10)", pages: pages)) } }
    let books = store.objects(Book.self)
    let one = try books.where { $0.pages == 7 }.explain()
    #expect(one.count == 1 && one.estimatedRows == 1 && one.rowsScanned == 0 && one.upkeep == .rowByRow, "\(one)")
    switch one.access {
    case .engine(let statement): #expect(engine == .sqlite && statement.contains("pages"), "\(one)")
    case let access: #expect(access == .index(properties: ["pages"], runs: 1), "\(one)")
    }
    let some = try books.where { $0.title == "b3" && $0.pages >= 0 }.sorted(by: \.price).limited(to: 4).explain()
    #expect(some.count == 4 && some.upkeep == .window && some.type == "Book", "\(some)")
    #expect(some.question == "title == \"b3\" AND pages >= 0 SORT(price ASC) LIMIT(4)", "\(some)")
    #expect(try books.where { $0.pages < 0 && $0.pages > 0 }.explain().count == 0)
    try store.write {
      try store.add(Book(title: "new", pages: 7))
      #expect(try books.where { $0.pages == 7 }.explain().count == 2)
    }
  }
}
