import Foundation
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Invoice {
  var name = ""
  var lines: LiveList<InvoiceLine>
  @Derived(.sum, of: \InvoiceLine.price, over: \Invoice.lines) var total: Decimal128 = 0
  @Derived(.min, of: \InvoiceLine.price, over: \Invoice.lines) var least: Decimal128?
  @Derived(.max, of: \InvoiceLine.discount, over: \Invoice.lines) var mostDiscount: Decimal128?
  @Derived(.average, of: \InvoiceLine.price, over: \Invoice.lines) var mean: Decimal128?
}

@Model final class InvoiceLine {
  var price: Decimal128 = 0
  var discount: Decimal128?
  var amount: Int?
}

@Model final class Purse {
  var coins: LiveList<Decimal128>
  var notes: LiveSet<Decimal128>
  var debts: LiveMap<Decimal128>
  var counts: LiveList<Int>
  var weights: LiveMap<Double>
  var bytes: LiveSet<Int8>
}

/// Decimals are added up, ranked and averaged wherever other numbers are.
@Suite struct MoneyTests {
  private func store() throws -> Store {
    try Store(StoreConfiguration.reference(nil, models: [Invoice.self, InvoiceLine.self, Purse.self]).byHand)
  }

  @Test func derivedDecimalsFollowInTheSameWrite() throws {
    let store = try store()
    let invoice = Invoice(name: "A")
    invoice.lines = [InvoiceLine(price: 0.1, discount: 1), InvoiceLine(price: 0.2), InvoiceLine(price: 0.3, discount: 2.5)]
    try store.write { try store.add(invoice) }
    #expect(invoice.total == 0.6 && invoice.least == 0.1 && invoice.mostDiscount == 2.5 && invoice.mean == 0.2)
    try store.write {
      invoice.lines[0].price = 10
      #expect(invoice.total == 10.5 && invoice.least == 0.2)
      invoice.lines.remove(at: 2)
    }
    #expect(invoice.total == 10.2 && invoice.mostDiscount == 1 && invoice.mean == 5.1)
    try store.write { store.objects(InvoiceLine.self).forEach { $0.price = -0.0 } }
    try store.write { try store.delete(store.objects(InvoiceLine.self)) }
    #expect(invoice.total == 0 && invoice.least == nil && invoice.mostDiscount == nil && invoice.mean == nil)
  }

  @Test func observedDecimalsFollowEveryCommit() throws {
    let store = try store()
    let lines = store.objects(InvoiceLine.self)
    var heard: [String: [String]] = [:]
    func hear<V>(_ name: String, _ change: AggregateChange<V>) {
      if let value = change.value { heard[name, default: []].append(Mirror(reflecting: value).text ?? "\(value)") }
    }
    let tokens = [
      lines.observe(.sum(of: \.price)) { hear("sum", $0) }, lines.observe(.average(of: \.price)) { hear("mean", $0) },
      lines.observe(.sum(of: \.discount)) { hear("discounts", $0) }, lines.observe(.max(of: \.price)) { hear("most", $0) },
      lines.observe(.min(of: \.discount)) { hear("least", $0) }, lines.observe(.average(of: \.discount)) { hear("cut", $0) },
      lines.observe(.sum(of: \.amount)) { hear("amount", $0) },
    ]
    store.refresh()
    let line = InvoiceLine(price: 0.1, discount: 1.50, amount: 3)
    try store.write {
      try store.add([line, InvoiceLine(price: 0.2, discount: nil), InvoiceLine(price: 9.99, discount: 0.5, amount: 4)])
    }
    store.refresh()
    try store.write { line.price = 1E+30 }
    store.refresh()
    try store.write { try store.delete(line) }
    store.refresh()
    #expect(heard["sum"] == ["0", "10.29", "1000000000000000000000000000010.19", "10.19"])
    #expect(heard["mean"]?.prefix(2) == ["nil", "3.43"] && heard["mean"]?.last == "5.095")
    #expect(heard["discounts"] == ["0", "2.0", "0.5"] && heard["cut"] == ["nil", "1.0", "0.5"])
    #expect(heard["most"] == ["nil", "9.99", "1E+30", "9.99"] && heard["least"] == ["nil", "0.5"])
    #expect(heard["amount"] == ["0", "7", "4"])
    for token in tokens { token.stop() }
  }

  /// What is kept by difference is what is computed anew, whatever came and went.
  @Test func keptSumsAreThoseOfTheNumbersAlone() throws {
    let store = try store()
    let lines = store.objects(InvoiceLine.self)
    var (sum, least): (Decimal128?, Decimal128??) = (nil, nil)
    let tokens = [
      lines.observe(.sum(of: \.price)) { sum = $0.value }, lines.observe(.min(of: \.discount)) { least = $0.value },
    ]
    store.refresh()
    var generator = SeededGenerator.forTest()
    for _ in 0..<60 {
      try store.write {
        for _ in 0..<Int.random(in: 1..<6, using: &generator) {
          let cents = Decimal128(Int.random(in: -999_999...999_999, using: &generator)) / 100
          let scale: Decimal128 = Bool.random(using: &generator) ? 1 : 1E+12
          let all = store.objects(InvoiceLine.self)
          switch Int.random(in: 0..<4, using: &generator) {
          case 0 where !all.isEmpty: try store.delete(all[Int.random(in: 0..<all.count, using: &generator)])
          case 1 where !all.isEmpty: all[Int.random(in: 0..<all.count, using: &generator)].price = cents
          default: try store.add(InvoiceLine(price: cents * scale, discount: Bool.random(using: &generator) ? nil : cents))
          }
        }
      }
      store.refresh()
      #expect(sum == lines.reduce(Decimal128.zero) { $0 + $1.price })
      #expect(try lines.sum(of: \.price) == sum)
      #expect(least == .some(lines.compactMap(\.discount).min()))
    }
    for token in tokens { token.stop() }
  }

  /// Also where adding one after the other would round the small one away.
  @Test func aSumIsTheSameInEveryDoor() throws {
    let store = try store()
    let numbers = try ["1E+34", "1", "-1E+34"].map { try #require(Decimal128($0)) }
    let (invoice, purse) = (Invoice(name: "A"), Purse())
    for (number, name) in zip(numbers, ["a", "b", "c"]) {
      invoice.lines.append(InvoiceLine(price: number, discount: number))
      purse.coins.append(number)
      purse.notes.insert(number)
      purse.debts[name] = number
    }
    try store.write {
      try store.add(invoice)
      try store.add(purse)
    }
    let lines = store.objects(InvoiceLine.self)
    var observed: Decimal128?
    let token = lines.observe(.sum(of: \.price)) { observed = $0.value }
    store.refresh()
    #expect(observed == 1 && invoice.total == 1)
    #expect(try lines.sum(of: \.price) == 1 && lines.sum(of: \.discount) == 1)
    #expect(try invoice.lines.results?.sum(of: \.price) == 1)
    #expect(purse.coins.sum() == 1 && purse.notes.sum() == 1 && purse.debts.sum() == 1)
    #expect(try invoice.value(forKeyPath: "lines.@sum.price") as? Decimal128 == 1)
    #expect(try purse.value(forKeyPath: "coins.@sum") as? Decimal128 == 1)
    #expect(store.objects(Invoice.self).filter("lines.@sum.price == 1").count == 1)
    #expect(store.objects(Invoice.self).where { $0.lines.sum(of: \.price) == 1 }.count == 1)
    #expect(store.objects(Purse.self).where { $0.coins.sum() == 1 && $0.notes.sum() == 1 && $0.debts.sum() == 1 }.count == 1)
    token.stop()
  }

  @Test func numbersThatAreNoneComeAndGo() throws {
    var sum = DecimalSum()
    for number in [Decimal128.nan, .infinity, 5, -.infinity] { sum.add(number) }
    #expect(sum.value.isNaN)
    sum.subtract(.nan)
    #expect(sum.value.isNaN)
    sum.subtract(-.infinity)
    #expect(sum.value == .infinity)
    sum.subtract(.infinity)
    #expect(sum.value == 5)
    sum.add(try #require(Decimal128("1E+6000")))
    sum.subtract(try #require(Decimal128("1E+6000")))
    sum.subtract(5)
    #expect(sum.value.isZero && sum.value.description == "0")
  }

  @Test func collectionsOfValuesAreAddedUp() throws {
    let store = try store()
    let purse = Purse()
    purse.coins = [0.5, 0.2, 0.1]
    #expect(purse.coins.sum() == 0.8)
    try store.write {
      try store.add(purse)
      purse.notes = [5, 20]
      purse.debts = ["Ann": 1.25, "Bo": 0.75]
      purse.counts = [1, 2, 6]
      purse.weights = ["a": 0.1, "b": 0.2]
      purse.bytes = [100, 27]
    }
    #expect(purse.coins.sum() == 0.8 && purse.coins.min() == 0.1 && purse.notes.average() == 12.5 && purse.debts.sum() == 2)
    #expect(purse.debts.average() == 1 && purse.notes.max() == 20)
    #expect(try purse.counts.sum() == 9 && purse.counts.average() == 3 && purse.weights.sum() == 0.30000000000000004)
    #expect(try purse.bytes.sum() == 127)
    try store.write { purse.bytes.insert(1) }
    #expect { try purse.bytes.sum() } throws: { StoreError.Code.overflow ~= $0 }
    try store.write {
      purse.coins = []
      purse.counts = [.max, .max, -.max]
    }
    #expect(purse.coins.sum() == 0 && purse.coins.average() == nil)
    #expect(try purse.counts.sum() == .max)
  }

  @Test func dictionariesAndJSONTakeWhatIsWritten() throws {
    let store = try store()
    let json = Data(#"[{"price": 9.99, "discount": "0.10"}, {"price": 12, "discount": null}]"#.utf8)
    try store.write {
      let lines = try store.create(InvoiceLine.self, json: json)
      #expect(lines.map(\.price) == [9.99, 12] && lines.map(\.discount) == ["0.10", nil].map { $0.flatMap { Decimal128($0) } })
      let line = try store.create(InvoiceLine.self, value: ["price": 0.3])
      #expect(line.price == 0.3)
      try line.setValue(NSDecimalNumber(string: "1234567890.123456789"), forKey: "price")
      #expect(line.price.description == "1234567890.123456789")
      try line.setValue(Decimal(string: "0.7"), forKey: "discount")
      #expect(line.discount == 0.7)
      try line.setValue(Decimal(string: "3"), forKey: "amount")
      #expect(line.amount == 3)
      #expect(throws: StoreError.self) { try line.setValue(Decimal(string: "3.5"), forKey: "amount") }
    }
    #expect(store.objects(InvoiceLine.self).where { $0.price == 9.99 }.count == 1)
    let decoded = try JSONDecoder().decode([InvoiceLine].self, from: json)
    #expect(decoded.map(\.price) == [9.99, 12] && decoded[0].discount == 0.1)
  }

  @Test func conditionsTakeWhatIsWritten() throws {
    let store = try store()
    try store.write { for price: Decimal128 in [9.99, 10, 10.01] { try store.add(InvoiceLine(price: price)) } }
    #expect(store.objects(InvoiceLine.self).where { $0.price == 9.99 }.count == 1)
    #expect(store.objects(InvoiceLine.self).where { $0.price > 9.99 }.count == 2)
  }
}

extension Mirror {
  /// Of an optional, what is in it.
  fileprivate var text: String? {
    guard displayStyle == .optional else { return nil }
    return children.first.map { "\($0.value)" } ?? "nil"
  }
}
