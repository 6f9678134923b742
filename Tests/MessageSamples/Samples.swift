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

public enum Samples {
  public static func configuration(_ path: String) -> Store.Configuration {
    .lmdb(URL(filePath: path), models: Work.self, Effect.self, MessageReceipt.self)
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

  public static func pendingCount(_ store: Store) -> Int {
    store.objects(Work.self).where { $0.status == MessageStatus.notProcessed }.count
  }
}
