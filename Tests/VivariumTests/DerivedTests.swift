import Foundation
import StorageInterface
import StoreValues
import Testing
import Vivarium
import VivariumTestSupport

@Model final class Order {
  var name = ""
  var items: LiveList<Item>
  @Derived(\Order.items.count) @Indexed var itemCount = 0
  @Derived(.sum, of: \Item.price, over: \Order.items) var total = 0.0
  @Derived(.max, of: \Item.amount, over: \Order.items) var most: Int?
  @Derived(.average, of: \Item.amount, over: \Order.items) var mean: Double?
}

/// Everything that follows by differences alone.
@Model final class Basket {
  var eggs: LiveList<Egg>
  var byName: LiveMap<Egg>
  var rare: LiveSet<Egg>
  @Derived(\Basket.eggs.count) var count = 0
  @Derived(.sum, of: \Egg.weight, over: \Basket.eggs) var weight = 0
  @Derived(.min, of: \Egg.weight, over: \Basket.eggs) var least: Int?
  @Derived(.max, of: \Egg.size, over: \Basket.eggs) var largest: Double?
  @Derived(.sum, of: \Egg.weight, over: \Basket.byName) var namedWeight = 0
  @Derived(.max, of: \Egg.weight, over: \Basket.rare) var heaviestRare: Int?
}

@Model final class Egg {
  var weight = 0
  var size = 0.0
  var nest: Nest?
  @Inverse(\Basket.eggs) var baskets: LinkingObjects<Basket>
  @Derived(\Egg.baskets.count) var basketCount = 0
}

@Model final class Nest {
  @Inverse(\Egg.nest) var eggs: LinkingObjects<Egg>
  @Derived(\Nest.eggs.count) var eggCount = 0
  @Derived(.sum, of: \Egg.weight, over: \Nest.eggs) var weight = 0
  @Derived(.min, of: \Egg.size, over: \Nest.eggs) var smallest: Double?
}

@Model final class Item {
  var price = 0.0
  var amount = 0
  @Inverse(\Order.items) var orders: LinkingObjects<Order>
  @Derived(\Item.orders.count) var orderCount = 0
}

@Suite struct DerivedTests {
  private func makeOrderStore() throws -> Store {
    var configuration = StoreConfiguration.reference(nil, models: [Order.self, Item.self])
    configuration.manualDelivery = true
    return try Store(configuration)
  }

  private func expectRight(_ store: Store) {
    for order in store.objects(Order.self) {
      let items = order.items.toArray()
      #expect(order.itemCount == items.count)
      #expect(abs(order.total - items.reduce(0) { $0 + $1.price }) < 1e-9)
      #expect(order.most == items.map(\.amount).max())
      #expect(order.mean == (items.isEmpty ? nil : Double(items.reduce(0) { $0 + $1.amount }) / Double(items.count)))
    }
    for item in store.objects(Item.self) { #expect(item.orderCount == item.orders.count) }
  }

  @Test func numbersOfADerivedPropertyAreRightInTheSameWrite() throws {
    let store = try makeOrderStore()
    let order = Order(name: "A")
    try store.write {
      try store.add(order)
      #expect(try store.objects(Order.self).sum(of: \.itemCount) == 0)
      order.items.append(Item(price: 1.5, amount: 2))
      #expect(try store.objects(Order.self).sum(of: \.itemCount) == 1)
      order.items.append(Item(price: 2.5, amount: 4))
      #expect(try store.objects(Order.self).where { $0.itemCount == 2 }.max(of: \.total) == 4)
    }
  }

  @Test func derivedPropertiesFollowInTheSameWrite() throws {
    let store = try makeOrderStore()
    let order = Order(name: "A")
    order.items = [Item(price: 1.5, amount: 2), Item(price: 2, amount: 4)]
    try store.write { try store.add(order) }
    #expect(order.itemCount == 2 && order.total == 3.5 && order.most == 4 && order.mean == 3)
    let version = store.version
    try store.write {
      order.items[0].price = 10
      #expect(order.total == 12)
      order.items.append(Item(price: 1, amount: 9))
      #expect(order["itemCount"] == .int(3) && order.snapshot().total == 13)
      let dynamic = try store.dynamicObjects("Order").first
      #expect(dynamic?["most"] == .int(9))
      do {
        try store.savepoint { order["itemCount"] = .int(7) }
        Issue.record("set")
      } catch {
        #expect((error as? StoreError)?.code == .typeMismatch)
      }
      #expect(store.objects(Order.self).where { $0.itemCount == 3 }.count == 1)
    }
    #expect(order.most == 9 && order.total == 13 && store.version.rawValue == version.rawValue + 1)
    try store.write { try store.delete(store.objects(Item.self)) }
    #expect(order.itemCount == 0 && order.total == 0 && order.most == nil && order.mean == nil)
  }

  @Test func afterRandomEditsDerivedIsWhatIsRecomputed() throws {
    let store = try makeOrderStore()
    var generator = SeededGenerator(seed: 20_261_121)
    try store.write { for name in 0..<8 { try store.add(Order(name: "\(name)")) } }
    for _ in 0..<40 {
      try store.write {
        for _ in 0..<50 {
          let orders = store.objects(Order.self)
          let items = store.objects(Item.self)
          let order = orders[Int.random(in: 0..<orders.count, using: &generator)]
          switch Int.random(in: 0..<6, using: &generator) {
          case 0, 1:
            order.items.append(
              Item(price: .random(in: 0..<9, using: &generator), amount: .random(in: 0..<99, using: &generator)))
          case 2 where !items.isEmpty: order.items.append(items[Int.random(in: 0..<items.count, using: &generator)])
          case 3 where !order.items.isEmpty: order.items.remove(at: 0)
          case 4 where !items.isEmpty:
            items[Int.random(in: 0..<items.count, using: &generator)].price = .random(in: 0..<9, using: &generator)
          case 5 where items.count > 20: try store.delete(items[0])
          default: break
          }
        }
      }
    }
    expectRight(store)
    #expect(store.objects(Order.self).sorted(by: \.itemCount).map(\.itemCount) == store.objects(Order.self).map(\.itemCount).sorted())
  }

  @Test func aDerivedPropertyCannotBeSet() throws {
    let store = try makeOrderStore()
    try store.write {
      #expect(throws: StoreError.self) { try store.create(Order.self, value: ["itemCount": 3]).setValue(4, forKey: "itemCount") }
      #expect(throws: StoreError.self) { try store.dynamicCreate("Order", ["itemCount": .int(3)]) }
      for order in try store.dynamicObjects("Order") {
        #expect(throws: StoreError.self) { try order.set("itemCount", to: .int(3)) }
      }
    }
    #expect(store.objects(Order.self).allSatisfy { $0.itemCount == 0 })
  }

  @Test func aSavepointThatIsUndoneLeavesDerivedRight() throws {
    let store = try makeOrderStore()
    let order = Order(name: "A")
    try store.write { try store.add(order) }
    struct Undo: Error {}
    try store.write {
      try? store.savepoint {
        order.items.append(Item(price: 1, amount: 1))
        #expect(order.itemCount == 1)
        throw Undo()
      }
      #expect(order.itemCount == 0)
    }
    expectRight(store)
  }

  @Test func derivedIsRightAfterTenThousandRandomEdits() throws {
    let store = try Store(.reference(nil, models: [Basket.self, Egg.self, Nest.self]))
    var random = SeededGenerator.forTest()
    let weights = [0, 1, -7, 40, Int.max, Int.min, Int.max / 2]
    let sizes = [0.0, -0.0, 1.5, .nan, .infinity, -2]
    try store.write {
      for _ in 0..<5 { try store.add(Basket()) }
      for _ in 0..<4 { try store.add(Nest()) }
      for _ in 0..<12 { try store.add(Egg(weight: weights[random.below(4)])) }
    }
    for _ in 0..<200 {
      try store.write {
        for _ in 0..<50 { try edit(store, &random, weights, sizes) }
        if random.oneIn(4) {
          try? store.savepoint {
            for _ in 0..<5 { try edit(store, &random, weights, sizes) }
            if random.oneIn(2) { throw CancellationError() }
          }
        }
        if random.oneIn(3) { expectBasketsRight(store) }
      }
      expectBasketsRight(store)
    }
  }

  private func edit(_ store: Store, _ random: inout SeededGenerator, _ weights: [Int], _ sizes: [Double]) throws {
    let baskets = store.objects(Basket.self)
    let (eggs, nests) = (store.objects(Egg.self), store.objects(Nest.self))
    let basket = baskets[random.below(baskets.count)]
    let egg = eggs[random.below(eggs.count)]
    let list = basket.eggs
    switch random.below(14) {
    case 0, 1: list.append(egg)
    case 2: list.insert(contentsOf: [egg, egg], at: random.below(list.count + 1))
    case 3 where !list.isEmpty: list.remove(at: random.below(list.count))
    case 4 where !list.isEmpty: list[random.below(list.count)] = egg
    case 5 where list.count > 1: list.move(from: random.below(list.count), to: random.below(list.count))
    case 6 where random.oneIn(5): list.removeAll()
    case 7: egg.weight = weights[random.below(random.oneIn(10) ? weights.count : 4)]
    case 8: egg.size = sizes[random.below(sizes.count)]
    case 9: egg.nest = random.oneIn(4) ? nil : nests[random.below(nests.count)]
    case 10: basket.byName["\(random.below(4))"] = random.oneIn(3) ? nil : egg
    case 11: if random.oneIn(2) { basket.rare.insert(egg) } else { basket.rare.remove(egg) }
    case 12 where eggs.count > 6: try store.delete(egg)
    default: try store.add(Egg(weight: weights[random.below(4)], size: sizes[random.below(sizes.count)]))
    }
  }

  private func expectBasketsRight(_ store: Store) {
    for basket in store.objects(Basket.self) {
      let eggs = basket.eggs.toArray()
      #expect(basket.count == eggs.count && basket.weight == sum(eggs.map(\.weight)))
      #expect(basket.least == eggs.map(\.weight).min())
      #expect(value(basket.largest) == value(eggs.map(\.size).max { Value.double($0).order(to: .double($1)) == .before }))
      #expect(basket.namedWeight == sum(basket.byName.values.map(\.weight)))
      #expect(basket.heaviestRare == basket.rare.map(\.weight).max())
    }
    for egg in store.objects(Egg.self) { #expect(egg.basketCount == egg.baskets.count) }
    for nest in store.objects(Nest.self) {
      let eggs = nest.eggs.toArray()
      #expect(nest.eggCount == eggs.count && nest.weight == sum(eggs.map(\.weight)))
      #expect(value(nest.smallest) == value(eggs.map(\.size).min { Value.double($0).order(to: .double($1)) == .before }))
    }
  }

  /// Of zeroes of both signs, which are equal, either one may be the furthest.
  private func value(_ number: Double?) -> Value? { number.map { .double($0 + 0.0) } }

  /// Stays at the bounds of Int.
  private func sum(_ numbers: [Int]) -> Int { Int(clamping: numbers.reduce(Int128(0)) { $0 + Int128($1) }) }

  @Test func upkeepOfADerivedPropertyCostsWhatTheEditTouches() throws {
    let reads = ReadCounts()
    var configuration = StoreConfiguration.reference(nil, models: [Basket.self, Egg.self, Nest.self])
    configuration.backend = ForwardingBackend(configuration.backend) { base in
      ForwardingEngine(base, write: { CountingWrite(base: $0, reads) })
    }
    let store = try Store(configuration)
    let (small, large, nest) = (Basket(), Basket(), Nest())
    small.eggs = LiveList((1...3).map { Egg(weight: $0, size: Double($0)) })
    large.eggs = LiveList((1...3_000).map { Egg(weight: $0, size: Double($0)) })
    try store.write {
      try store.add(small)
      try store.add(large)
      try store.add(nest)
      for egg in large.eggs { egg.nest = nest }
    }
    func cost(_ body: () throws -> Void) throws -> Int {
      let before = reads.all
      try store.write(body)
      return reads.all - before
    }
    for edit: (Basket) -> Void in [
      { $0.eggs.append(Egg(weight: 5_000, size: 2)) }, { $0.eggs[1].weight = 4_000 }, { $0.eggs.remove(at: 1) },
      { $0.eggs.insert(Egg(weight: 2, size: 9_000), at: 0) },
    ] {
      #expect(try cost { edit(large) } <= cost { edit(small) } + 20)
    }
    #expect(try cost { try store.add(Egg(weight: 7, nest: nest)) } < 100)
    #expect(large.count == 3_001 && nest.eggCount == 3_001 && large.least == 1 && large.largest == 9_000)
    expectBasketsRight(store)
  }
}
