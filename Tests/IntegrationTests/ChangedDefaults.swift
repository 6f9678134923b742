import Foundation
import StoreValues
import Synchronization
import Vivarium

/// Numbers for the defaults of one test, from 0 on; always 0 outside of one.
final class Ranks: Sendable {
  @TaskLocal static var current: Ranks?
  private let count = Atomic(0)

  static func next() -> Int {
    guard let ranks = current else { return 0 }
    return ranks.count.add(1, ordering: .relaxed).oldValue
  }
}

extension Int {
  static var nextRank: Int { Ranks.next() }
}

/// What a file has.
enum BareRooms {
  @Model final class Room {
    @PrimaryKey var id: Int = 0
    var codes: LiveList<Int>
  }

  @ValueModel struct Shelf: Equatable {
    @PrimaryKey var id: Int
  }
}

/// Defaults of collections.
enum FurnishedRooms {
  @Model final class Room {
    @PrimaryKey var id: Int = 0
    var codes: LiveList<Int>
    var tags: LiveList<String> = ["b", "a", "b"]
    var marks: LiveSet<Int> = [3, 1]
    var prices: LiveMap<Double> = ["bed": 1.5]
    var places: LiveList<Position> = [Position(floor: 2, room: "x")]
    var notes: LiveList<AnyValue> = ["n", nil]
    var tokens: LiveList<UUID> = [UUID()]
    var none: LiveList<Int> = []
  }

  @ValueModel struct Shelf: Equatable {
    @PrimaryKey var id: Int
    var tags: [String] = ["b", "a"]
    var marks: Set<Int> = .init([1])
    var prices: [String: Double] = ["oak": 2]
    var none: [Int] = []
  }
}

/// Defaults of objects.
enum OwnedRooms {
  @Model final class Room {
    @PrimaryKey var id: Int = 0
    var codes: LiveList<Int>
    var desk: Desk? = Desk()
    var chairs: LiveList<Chair> = [Chair()]
  }

  @Model(.embedded) final class Desk {
    var width = 7
    var drawers: LiveList<Int> = [1, 2]
  }

  @Model final class Chair { var legs = 4 }
}

/// Defaults that are zero, or empty, the first time.
enum RankedRooms {
  @Model final class Room {
    @PrimaryKey var id: Int = 0
    var codes: LiveList<Int>
    var rank = Int(Ranks.next())
    var place: Int = .nextRank
    var steps: LiveList<Int> = LiveList(0..<Ranks.next())
  }
}

/// A default that another one keeps from being added.
enum LabelledRooms {
  @Model final class Room {
    @PrimaryKey var id: Int = 0
    var front: Label? = Label()
    var back: Label? = Label()
  }

  @Model final class Label { @Unique var text = "x" }
}

/// Another name for a list, whose default is none of its elements.
enum RecodedRooms {
  @Model final class Room {
    @PrimaryKey var id: Int = 0
    var numbers: LiveSet<Int> = [9]
  }
}
