import Foundation
import TestSupport
import Testing
import Values
import Vivarium

@Model final class Order {
  var name = ""
  var items: LiveList<Item>
  @Derived(\Order.items.count) @Indexed var itemCount = 0
  @Derived(.sum, of: \Item.price, over: \Order.items) var total = 0.0
  @Derived(.max, of: \Item.amount, over: \Order.items) var most: Int?
  @Derived(.average, of: \Item.amount, over: \Order.items) var mean: Double?
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
    configuration.misuse = .ignore
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
}
