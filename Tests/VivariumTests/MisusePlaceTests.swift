import Foundation
import StorageInterface
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

/// A question that cannot be asked is logged with what is wrong, what helps, and the line that asked.
@Suite struct MisusePlaceTests {
  private let store: Store

  init() throws {
    var configuration = StoreConfiguration.reference(UUID().uuidString, models: [Person.self, Dog.self])
    configuration.misuse = .log
    store = try Store(configuration)
  }

  /// Keeps what is logged.
  private final class Heard: Sendable {
    let lines = Mutex<[String]>([])
  }

  /// What is logged while the results are read.
  private func said(_ read: () -> Void) -> [String] {
    let heard = Heard()
    StoreLog.$listener.withValue({ line in heard.lines.withLock { $0.append(line) } }) { read() }
    return heard.lines.withLock { $0 }
  }

  private func expect(_ lines: [String], _ message: String, at line: Int, sourceLocation: Testing.SourceLocation = #_sourceLocation) {
    let wanted = "Asked at VivariumTests/MisusePlaceTests.swift:\(line)."
    #expect(
      lines.count == 1 && lines[0].contains(message) && lines[0].hasSuffix(wanted), "\(lines), not at \(line)",
      sourceLocation: sourceLocation)
  }

  @Test func aTextSaysItsByteAndItsLine() {
    let (wrong, line) = (store.objects(Person.self).filter("age > 3 AND naem == 'x'"), #line)
    expect(said { _ = wrong.count }, "has no property 'naem'. At byte 12. It has", at: line)
    let (syntax, second) = (store.objects(Person.self).filter("age >"), #line)
    expect(said { _ = syntax.first }, "At byte 5.", at: second)
  }

  @Test func aTestInSwiftSaysItsLineToo() {
    let people = store.objects(Person.self)
    let (wrong, line) = (people.filter(reading: ["naem"]) { _ in true }, #line)
    expect(said { _ = wrong.count }, "'naem' leads to no property of 'Person'", at: line)
    let (behind, second) = (people.filter("naem == 'x'").filter(reading: [\.age]) { $0.age > 1 }, #line)
    expect(said { _ = behind.count }, "has no property 'naem'", at: second)
  }

  @Test func theLineIsThatOfWhatIsWrongAndNotOfWhatComesBehindIt() {
    let (wrong, line) = (store.objects(Person.self).filter("naem == 'x'"), #line)
    let sorted = wrong.sorted(by: \.age).limited(to: 3)
    let distinct = sorted.filter("age > 1")
    expect(said { _ = sorted.count }, "naem", at: line + 1)
    expect(said { _ = distinct.count }, "naem", at: line + 1)
    let (syntax, second) = (store.objects(Person.self).filter("naem ="), #line)
    expect(said { _ = syntax.sorted(by: \.age).where { $0.age > 1 }.count }, "At byte", at: second)
  }

  @Test func closuresAndOrdersSayTheirLine() {
    let people = store.objects(Person.self)
    expect(said { _ = people.sorted(byKeyPath: "naem").count }, "naem", at: #line)
    expect(said { _ = people.sorted { $0.best }.count }, "link", at: #line)
    expect(said { _ = people.distinct(byKeyPaths: ["naem"]).count }, "naem", at: #line)
    expect(said { _ = people.where { $0.isAdult == true }.count }, "is no persisted property of 'Person'", at: #line)
    expect(said { _ = people.filter(#Predicate { $0.isAdult }).count }, "persisted", at: #line)
    expect(said { _ = try? store.dynamicObjects("Dog").filter("naem == 1").count }, "naem", at: #line)
  }

  @Test func collectionsSayTheirLine() throws {
    let person = Person(name: "Ann")
    try store.write { try store.add(person) }
    expect(said { _ = person.dogs.filter("naem == 'x'")?.count }, "At byte 0.", at: #line)
    expect(said { _ = person.dogs.sorted(byKeyPath: "naem")?.count }, "naem", at: #line)
  }

  @Test func anEditOutsideOfAWriteSaysItsLine() throws {
    let person = Person(name: "Ann")
    try store.write { try store.add(person) }
    let (lines, line) = (said { person.dogs.append(Dog(name: "Rex")) }, #line)
    let wanted = "needs an open write. Edited at VivariumTests/MisusePlaceTests.swift:\(line)."
    #expect(lines.count == 1 && lines[0].contains(wanted), "\(lines)")
  }
}
