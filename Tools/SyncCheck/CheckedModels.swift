import Foundation
import StoreMessages
import SyncClient
import Vivarium

/// What one device has done: it counts in two ways, so that a write that was lost or came twice shows.
@Model final class Tally {
  @PrimaryKey var device = ""
  var count = 0
  var entries: LiveList<Int>
}

/// What all devices write in.
@Model final class Item {
  @PrimaryKey var id = ""
  var text = ""
  var number = 0
  var tags: LiveList<String>
  var marks: LiveSet<Int>
  var other: Item?
}

/// What a device asks a handler of messages.
@Model final class Question: Message {
  @PrimaryKey var number = 0
  @Indexed var status: MessageStatus = .notProcessed
  var statusCode: Int?
  var statusMessage: String?
  var createdAt = Date()
  var updatedAt = Date()

  var answer: Int?
  /// How often it was answered.
  var times = 0
}

extension Store {
  /// Opens a file of these types, and replicates it unless nothing says how.
  @MainActor static func checked(_ configuration: Configuration, _ sync: SyncConfiguration? = SyncConfiguration()) throws -> Store {
    var configuration = configuration
    configuration.models = [Tally.self, Item.self, Question.self]
    configuration.sync = sync
    return try Store(configuration)
  }

  /// All that it shows, a line an object, in an order that is the same on every device.
  @MainActor var picture: [String] {
    refresh()
    let tallies = objects(Tally.self).map { "tally \($0.device): \($0.count) \(Array($0.entries))" }
    let items = objects(Item.self).map {
      "item \($0.id): '\($0.text)' \($0.number) \(Array($0.tags)) \($0.marks.sorted()) \($0.other?.id ?? "-")"
    }
    return (tallies + items).sorted()
  }

  /// What is wrong with a device's tally by itself.
  @MainActor func faultOfTally(_ device: String, atLeast least: Int) -> String? {
    refresh()
    guard let tally = object(Tally.self, forPrimaryKey: device) else { return least > 0 ? "\(device): its tally is gone" : nil }
    let entries = Array(tally.entries)
    guard entries == Array(1...max(1, entries.count)) || entries.isEmpty else { return "\(device): its entries are \(entries)" }
    if tally.count != entries.count { return "\(device): counted \(tally.count), wrote \(entries.count)" }
    return entries.count < least ? "\(device): \(least) writes had returned, \(entries.count) are there" : nil
  }
}

extension Store {
  /// The next write of a device: its tally, a question with its number if it asks, and something in what everybody writes in.
  @MainActor func writeSomething(_ device: String, asks: Bool = false, _ random: inout some RandomNumberGenerator) throws -> Int {
    try write {
      let tally = try object(Tally.self, forPrimaryKey: device) ?? create(Tally.self, value: ["device": device])
      let number = tally.entries.count + 1
      tally.increment(\.count)
      tally.entries.append(number)
      if asks { _ = try create(Question.self, value: ["number": number]) }
      let id = "\(Int.random(in: 0..<12, using: &random))"
      guard let item = object(Item.self, forPrimaryKey: id) else {
        _ = try create(Item.self, value: ["id": id, "text": "\(device) \(number)"])
        return number
      }
      switch Int.random(in: 0..<10, using: &random) {
      case 0, 1: item.text = "\(device) \(number)"
      case 2: item.increment(\.number)
      case 3, 4: item.tags.insert("\(device) \(number)", at: Int.random(in: 0...item.tags.count, using: &random))
      case 5: if !item.tags.isEmpty { item.tags.remove(at: Int.random(in: 0..<item.tags.count, using: &random)) }
      case 6: if item.tags.count > 1 { item.tags.move(from: 0, to: item.tags.count - 1) }
      case 7: item.marks.insert(Int.random(in: 0..<20, using: &random))
      case 8: item.other = object(Item.self, forPrimaryKey: "\(Int.random(in: 0..<12, using: &random))")
      default: try delete(item)
      }
      return number
    }
  }
}
