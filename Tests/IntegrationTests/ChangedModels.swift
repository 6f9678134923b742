import Foundation
import StoreValues
import Vivarium

/// What a file has, and what programs make of it later.
enum Original {
  enum Level: String, PersistableEnum { case low, normal, high }

  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    var first = ""
    var nick: String?
    var level = Level.normal
    var past: LiveList<Level>
    var marks: LiveList<Int>
    var friend: Guest?
  }
}

/// A property that needs a value and has none.
enum Needing {
  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    var first = ""
    var nick: String?
    var level = Original.Level.normal
    var past: LiveList<Original.Level>
    var marks: LiveList<Int>
    var friend: Guest?
    var owner: String
  }
}

/// Properties that are gone.
enum Lacking {
  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    var level = Original.Level.normal
    var past: LiveList<Original.Level>
    var friend: Guest?
  }
}

/// What somebody writes who forgets that the data is called otherwise.
enum Forgetful {
  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    var name = ""
    var nick: String?
    var level = Original.Level.normal
    var past: LiveList<Original.Level>
    var marks: LiveList<Int>
    var friend: Guest?
  }
}

/// A case that is gone.
enum Narrowed {
  enum Level: String, PersistableEnum { case low, normal }

  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    var first = ""
    var nick: String?
    var level = Level.normal
    var past: LiveList<Level>
    var marks: LiveList<Int>
    var friend: Guest?
  }
}

/// A text that is to be a number.
enum Converted {
  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    var first = 0
    var nick: String?
    var level = Original.Level.normal
    var past: LiveList<Original.Level>
    var marks: LiveList<Int>
    var friend: Guest?
  }
}

/// What somebody writes who remembers.
enum Renaming {
  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    @Renamed(from: "first") @Indexed var name = ""
    var nick: String?
    var level = Original.Level.normal
    var past: LiveList<Original.Level>
    @Renamed(from: "marks") var grades: LiveList<Int>
    @Renamed(from: "friend") var mate: Guest?
    @Inverse(\Guest.mate) var mates: LinkingObjects<Guest>
  }
}

/// Another name and another type.
enum RenamingConverted {
  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    @Renamed(from: "first") var number = 0
    var level = Original.Level.normal
    var past: LiveList<Original.Level>
    var friend: Guest?
  }
}

/// One of each default.
enum Growing {
  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    var first = ""
    var nick: String?
    var level = Original.Level.normal
    var past: LiveList<Original.Level>
    var marks: LiveList<Int>
    var friend: Guest?
    var rank = 5
    var timeout: Int = 5 * 60
    var token = UUID()
    var maybe: Int?
  }
}

/// Properties whose new type holds other things.
enum Linked {
  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    var friend: Guest?
    var friends: LiveList<Guest>
    var marks: LiveList<Int>
    var weight = 0.0
    var rooms: LiveMap<AnyValue>
  }
}

enum LinkedElsewhere {
  @Model final class Host {
    @PrimaryKey var id: Int = 0
  }

  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    var friend: Host?
    var friends: LiveList<Host>
  }
}

enum Regrouped {
  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    var marks: LiveSet<Int>
    var rooms: LiveList<AnyValue>
  }
}

enum Retyped {
  @Model final class Guest {
    @PrimaryKey var id: Int = 0
    var friend: AnyValue
    var friends: LiveList<AnyValue>
    var marks: Int = 0
    var weight: Float = 0
    var rooms: LiveMap<Int>
  }
}
