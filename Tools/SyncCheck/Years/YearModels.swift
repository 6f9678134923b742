import Vivarium

/// The types of an app's first year.
enum FirstYear {
  @Model final class Person {
    @PrimaryKey var id = 0
    var name = ""
  }
}

/// People have addresses and tags now.
enum SecondYear {
  @Model final class Person {
    @PrimaryKey var id = 0
    var name = ""
    var email: String?
    var tags: LiveList<String>
  }
}

/// They visit places, which are new.
enum ThirdYear {
  @Model final class Person {
    @PrimaryKey var id = 0
    var name = ""
    var email: String?
    var tags: LiveList<String>
    var visits = 0
    var latest: Place?
  }

  @Model final class Place {
    @PrimaryKey var id = 0
    var visitors = 0
  }
}
