import Foundation
import Vivarium

/// The same types in two versions of a program.
enum First {
  @Model final class Citizen {
    @PrimaryKey var id: Int = 0
    var first = ""
    var last = ""
    var age: String = "0"
    var nick: String?
    var friend: Citizen?
    var marks: LiveList<Int>
    var home: Home?
  }

  @Model final class Home { var street = "" }
  @Model final class Relic { var name = "" }
}

enum Second {
  @Model final class Citizen {
    @PrimaryKey var id: Int = 0
    @Unique var name = ""
    var age = 0
    var nick = "none"
    var friend: Citizen?
    var grades: LiveList<Int>
    var home: Home?
    var homeCount: Int?
  }

  @Model(.embedded) final class Home { var street = "" }
  @Model final class Relic { var name = "" }
  @Model final class Log { var text = "" }
}

enum Third {
  @Model final class Human {
    @PrimaryKey var id: Int = 0
    var first = ""
    var friend: Human?
  }
}
