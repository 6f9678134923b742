import Foundation
import StorageLMDB
import StoreMessages
import Vivarium

/// A message whose effect can be counted.
@Model public final class Work: Message {
  @PrimaryKey public var number: Int
  @Indexed public var status: MessageStatus = .notProcessed
  public var statusCode: Int?
  public var statusMessage: String?
  public var createdAt: Date = Date()
  public var updatedAt: Date = Date()
  public var group: String?
  public var answer: Int = 0

  public init(number: Int, group: String? = nil) {
    self.number = number
    self.group = group
  }
}

/// What a handler did to the store for one message, and when among the others.
@Model public final class Effect {
  @PrimaryKey public var number: Int
  public var times: Int = 0
  public var place: Int = 0

  public init(number: Int) { self.number = number }
}

/// What the handlers of one name did for one message, and when among the others of the name.
@Model public final class Deed {
  @PrimaryKey public var id: String
  public var name: String
  public var number: Int
  public var times: Int = 0
  public var place: Int = 0

  public init(number: Int, name: String) {
    id = "\(name) \(number)"
    self.name = name
    self.number = number
  }
}

public enum Samples {
  public static func configuration(_ path: String) -> Store.Configuration {
    .lmdb(URL(filePath: path), models: Work.self, Effect.self, Deed.self, MessageReceipt.self)
  }

  /// The effect of a message: counted, so that a second time would show.
  public static func perform(_ work: Work, in store: Store) throws {
    let known = store.object(Effect.self, forPrimaryKey: work.number)
    let effect = known ?? Effect(number: work.number)
    if known == nil { try store.add(effect) }
    effect.times += 1
    effect.place = store.objects(Effect.self).count
    work.answer = work.number * 2
  }

  /// What the handlers of one name do. Every fourth message they also answer, so that the other names owe it.
  public static func perform(_ work: Work, in store: Store, by name: String) throws {
    let known = store.object(Deed.self, forPrimaryKey: "\(name) \(work.number)")
    let deed = known ?? Deed(number: work.number, name: name)
    if known == nil { try store.add(deed) }
    deed.times += 1
    deed.place = deeds(of: name, in: store).count
    work.answer = work.number * 2
    if work.number % 4 == 0 { work.succeed() }
  }

  public static func deeds(of name: String, in store: Store) -> Results<Deed> { store.objects(Deed.self).where { $0.name == name } }

  public static func pendingCount(_ store: Store) -> Int {
    store.objects(Work.self).where { $0.status == MessageStatus.notProcessed }.count
  }
}
