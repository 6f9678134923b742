import Foundation
import Vivarium

/// A value model in a file, and in programs that came later.
enum FirstValues {
  @ValueModel struct Reading: Equatable {
    @PrimaryKey var id: Int
  }
}

/// One of each default.
enum GrownValues {
  enum Kind: String, PersistableEnum { case odd, normal }

  @ValueModel struct Reading: Equatable {
    @PrimaryKey var id: Int
    var token = UUID()
    var kind = Kind.normal
    var timeout: Int = 5 * 60
    var rank = 3
  }
}

/// A property that needs a value and has none.
enum NeedingValues {
  @ValueModel struct Reading: Equatable {
    @PrimaryKey var id: Int
    var owner: String
  }
}
