import Foundation
import Vivarium

@Model final class Person {
  #Index<Person>([\.name, \.age])
  @PrimaryKey var id: UUID = UUID()
  var name = ""
  @Indexed var age = 0
  var nick: String?
  var best: Dog?
  var dogs: LiveList<Dog>
  var scores: LiveList<Double>
  @Transient var visits: [Int] = []
  var isAdult: Bool { age >= 18 }
  static let species = "human"
}

@Model final class Dog {
  var name = ""
  var age = 0
  @Inverse(\Person.dogs) var owners: LinkingObjects<Person>
  @Inverse(\Person.best) var bestOf: Person?
}

enum Mood: String, PersistableEnum { case calm, wild }
enum Rank: Int, PersistableEnum { case low = 1, high = 9 }

@Model final class Everything {
  var flag = false
  var int = 0
  var int8: Int8 = 0
  var int16: Int16 = 0
  var int32: Int32 = 0
  var int64: Int64 = 0
  var float: Float = 0
  var double = 0.0
  var string = ""
  var data = Data()
  var date = Date(timeIntervalSinceReferenceDate: 0)
  var uuid = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
  var mood = Mood.calm
  var rank: Rank = .low
  var maybeFlag: Bool?
  var maybeInt: Int?
  var maybeInt8: Int8?
  var maybeFloat: Float?
  var maybeDouble: Double?
  var maybeString: String?
  var maybeData: Data?
  var maybeDate: Date?
  var maybeUUID: UUID?
  var maybeMood: Mood?
  var maybeRank: Rank?
}

/// A required property and an init of its own.
@Model final class Message {
  @PrimaryKey var number: Int
  @Unique var code: String
  var text = "…"
  init(number: Int, shout: String) {
    self.number = number
    code = shout.uppercased()
  }
}

/// A chain and a ring.
@Model final class Node {
  var label = 0
  var next: Node?
}

extension Store {
  /// In one write, an object for each number.
  func add(numbers: some Sequence<Int>) throws {
    try write {
      for number in numbers {
        let object = Everything()
        object.int = number
        try add(object)
      }
    }
  }
}
