import Foundation
import Vivarium

/// An installed package.
@Model final class Package {
  @PrimaryKey var name: String = ""
  var version: String = ""
  var summary: String = ""
  var isEssential: Bool = false
  @Indexed var installedKilobytes: Int = 0
  var section: Section?
  var maintainer: Maintainer?
  /// What it needs, in the order it was written.
  @Inverse(\Dependency.owner) var dependencies: LinkingObjects<Dependency>
  /// Who needs it.
  @Inverse(\Dependency.target) var requirements: LinkingObjects<Dependency>
}

/// One line of a package's needs.
@Model final class Dependency {
  /// The name that was asked for: all there is when nothing installed satisfies it.
  @Indexed var name: String = ""
  var constraint: String = ""
  var isRecommendation: Bool = false
  /// The installed package that satisfies it.
  var target: Package?
  /// The package that needs it.
  var owner: Package?
}

/// A part of the distribution: `libs`, `admin`.
@Model final class Section {
  @PrimaryKey var name: String = ""
  @Inverse(\Package.section) var packages: LinkingObjects<Package>
}

/// Who looks after packages.
@Model final class Maintainer {
  @PrimaryKey var name: String = ""
  @Inverse(\Package.maintainer) var packages: LinkingObjects<Package>
}
