import Foundation
import Vivarium

/// The packages of a Debian machine.
struct PackageWorld: World {
  let path: String

  nonisolated static var models: [any SchemaDescribing.Type] {
    [Package.self, Dependency.self, Section.self, Maintainer.self, Note.self]
  }

  func fill(_ store: Store) throws {
    let started = ContinuousClock.now
    let packages = try DebianStatus.packages(at: path)
    Terminal.say("Read \(grouped(packages.count)) packages from \(path) in \(milliseconds(since: started))")
    var bar = ProgressBar("Making objects", total: packages.count * 2)
    let count = try store.write {
      let made = try addPackages(packages, to: store, &bar)
      return try addDependencies(packages, made, to: store, &bar)
    }
    bar.finish("Stored \(grouped(packages.count)) packages and \(grouped(count)) dependencies in one transaction")
  }

  private func addPackages(_ packages: [DebianPackage], to store: Store, _ bar: inout ProgressBar) throws -> [String: Package] {
    var made: [String: Package] = [:]
    var sections: [String: Section] = [:]
    var maintainers: [String: Maintainer] = [:]
    for (position, source) in packages.enumerated() {
      let section = sections[source.section] ?? Section(name: source.section)
      sections[source.section] = section
      let maintainer = maintainers[source.maintainer] ?? Maintainer(name: source.maintainer)
      maintainers[source.maintainer] = maintainer
      let package = Package()
      package.name = source.name
      package.version = source.version
      package.summary = source.summary
      package.isEssential = source.isEssential
      package.installedKilobytes = source.installedKilobytes
      package.section = section
      package.maintainer = maintainer
      try store.add(package)
      made[source.name] = package
      bar.show(position + 1)
    }
    return made
  }

  private func addDependencies(
    _ packages: [DebianPackage], _ made: [String: Package], to store: Store, _ bar: inout ProgressBar
  ) throws -> Int {
    var providers: [String: Package] = made
    for source in packages {
      for name in source.provides where providers[name] == nil { providers[name] = made[source.name] }
    }
    var count = 0
    for (position, source) in packages.enumerated() {
      guard let package = made[source.name] else { continue }
      for need in source.dependencies {
        guard let satisfied = need.alternatives.first(where: { providers[$0.name] != nil }) ?? need.alternatives.first
        else { continue }
        let dependency = Dependency()
        dependency.name = satisfied.name
        dependency.constraint = satisfied.constraint
        dependency.isRecommendation = need.isRecommendation
        dependency.target = providers[satisfied.name]
        dependency.owner = package
        try store.add(dependency)
        count += 1
      }
      bar.show(packages.count + position + 1)
    }
    return count
  }
}
