import Foundation
import StoreValues
import Synchronization
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Stamp {
  var name = ""
  @Indexed var year = 0
  var price: Double?
  var shape = Shape.square
  var wish: Shape?
  var printer: Printer?

  enum Shape: String, PersistableEnum { case square, round }

  static let gone = Mutex(0)
  deinit { Stamp.gone.withLock { $0 += 1 } }
}

@Model final class Printer {
  var city = ""
  var founded: Int?
  var best: Stamp?
  var sheet: LiveList<Stamp>
}

@Model final class Frame {
  var width = 0
  var stamp: Stamp?
  @Inverse(\Hook.frame) var hook: Hook?
}

@Model final class Hook {
  var height = 0
  var frame: Frame?
}

@Suite(.serialized) struct ColumnValuesTests {
  /// `count` stamps: the year falls, every third has no price, every fifth no printer.
  private func stamps(_ engine: Engine, _ count: Int) throws -> (store: Store, directory: TemporaryDirectory) {
    let (configuration, directory) = engine.place([Stamp.self, Printer.self, Frame.self, Hook.self])
    let store = try Store(configuration)
    try store.write {
      let printers = [Printer(city: "Ghent", founded: 1850), Printer(city: "Bern")]
      for printer in printers { try store.add(printer) }
      for i in 0..<count {
        let stamp = Stamp(name: "s\(i)", year: 3000 - i % 1000, price: i % 3 == 0 ? nil : Double(i))
        if i % 7 == 0 { stamp.shape = .round }
        if i % 2 == 0 { stamp.wish = .round }
        if i % 5 != 0 { stamp.printer = printers[i % 2] }
        try store.add(stamp)
      }
    }
    return (store, directory)
  }

  @Test(arguments: Engine.allCases) func valuesComeInTheOrderOfTheResults(engine: Engine) throws {
    let (store, directory) = try stamps(engine, 3000)
    defer { withExtendedLifetime(directory) {} }
    try store.write { try store.delete(store.objects(Stamp.self).where { $0.year.in([2999, 2500]) }) }
    let all = store.objects(Stamp.self)
    let several: [Results<Stamp>] = [
      all, all.where { $0.year < 2010 }, all.sorted(by: \.year), all.sorted(by: \.name, ascending: false).limited(to: 40),
      all.filter("shape == 'round' SORT(price DESC) OFFSET(3) LIMIT(50)"), all.distinct(by: \.year), all.where { $0.year < 0 },
      all.where { $0.year == 2700 },
    ]
    for results in several {
      #expect(try results.values(\.name) == results.map(\.name))
      #expect(try results.values(\.year) == results.map(\.year))
      #expect(try results.values(\.price) == results.map(\.price))
      #expect(try results.values(\.shape) == results.map(\.shape) && results.values(\.wish) == results.map(\.wish))
      #expect(try results.values(\.printer, \.city) == results.map { $0.printer?.city })
      #expect(try results.values(\.printer, \.founded) == results.map { $0.printer?.founded })
    }
  }

  @Test(arguments: Engine.allCases) func noObjectIsMade(engine: Engine) throws {
    let (store, directory) = try stamps(engine, 500)
    defer { withExtendedLifetime(directory) {} }
    let sorted = store.objects(Stamp.self).sorted(by: \.year)
    let before = Stamp.gone.withLock { $0 }
    #expect(try sorted.values(\.name).count == 500)
    #expect(try Set(sorted.limited(to: 9).values(\.price)).count > 3)
    #expect(try store.objects(Frame.self).values(\.stamp, \.name).isEmpty)
    #expect(Stamp.gone.withLock { $0 } == before)
    // One that is read so is counted.
    #expect(sorted.first?.name.isEmpty == false)
    #expect(Stamp.gone.withLock { $0 } == before + 1)
  }

  @Test(arguments: Engine.allCases) func aWriteSeesItsOwnValuesAndListsTheirRepeats(engine: Engine) throws {
    let (store, directory) = try stamps(engine, 20)
    defer { withExtendedLifetime(directory) {} }
    let printer = try #require(store.objects(Printer.self).first)
    let all = store.objects(Stamp.self)
    let sheet = [all[7], all[2], all[7], all[19]]
    try store.write {
      printer.sheet = LiveList(sheet)
      all[2].name = "changed"
      all[0].price = 4
      let listed = try #require(printer.sheet.where { $0.year > 0 })
      #expect(try listed.values(\.name) == ["s7", "changed", "s7", "s19"])
      #expect(try all.values(\.price).first == .some(4) && all.first?.name == "s0")
      try store.delete(all[7])
      #expect(try listed.values(\.name) == ["changed", "s19"] && all.values(\.name).count == 19)
      #expect(try all.values(\.name) == all.map(\.name))
    }
  }

  @Test(arguments: Engine.allCases) func inversesToOneObjectAreLinksToo(engine: Engine) throws {
    let (store, directory) = try stamps(engine, 1)
    defer { withExtendedLifetime(directory) {} }
    try store.write {
      for width in 0..<4 {
        let frame = Frame(width: width)
        try store.add(frame)
        if width % 2 == 0 { try store.add(Hook(height: 10 * width, frame: frame)) }
      }
    }
    #expect(try store.objects(Frame.self).values(\.hook, \.height) == [0, nil, 20, nil])
  }

  @Test func whatCannotBeReadIsThrown() throws {
    let (store, directory) = try stamps(.memory, 3)
    defer { withExtendedLifetime(directory) {} }
    func code(_ body: () throws(StoreError) -> Void) -> StoreError.Code? {
      do throws(StoreError) { try body() } catch { return error.code }
      return nil
    }
    let all = store.objects(Stamp.self)
    #expect(code { () throws(StoreError) in _ = try all.filter("nonsense(").values(\.name) } == .invalidQuery)
    #expect(code { () throws(StoreError) in _ = try all.values(\.name.count) } == .unknownProperty)
    #expect(code { () throws(StoreError) in _ = try all.values(\.printer, \.city.count) } == .unknownProperty)
  }
}
