import Vivarium

/// The models of a program, and of a later version of it, with one of each thing that a migration can do.
package enum Before {
  @Model package final class Tenant {
    @PrimaryKey package var id: Int = 0
    package var first = ""
    package var last = ""
    package var age: String = "0"
    package var friend: Tenant?
    package var marks: LiveList<Int>
    package var home: Flat?
  }

  @Model package final class Flat { package var street = "" }
  @Model package final class Relic { package var name = "" }
}

package enum After {
  @Model package final class Tenant {
    @PrimaryKey package var id: Int = 0
    @Unique package var name = ""
    @Indexed package var age = 0
    package var friend: Tenant?
    package var grades: LiveList<Int>
    package var home: Flat?
    @Derived(\Tenant.grades.count) package var gradeCount = 0
  }

  @Model(.embedded) package final class Flat { package var street = "" }
  @Model package final class Relic { package var name = "" }
  @Model package final class Note { package var text = "" }
}
