import Foundation
import StoreInspection
import Vivarium

extension PackageWorld {
  func ask(_ store: Store) throws {
    try askWhatAllStandsOn(store)
    try askSections(store)
    try askUnmet(store)
    try askForOne(store)
    try askForLarge(store)
  }

  private func askWhatAllStandsOn(_ store: Store) throws {
    let started = ContinuousClock.now
    let popular = store.objects(Package.self)
      .map { ($0, $0.requirements.count) }
      .sorted { ($0.1, $1.0.name) > ($1.1, $0.0.name) }
      .prefix(8)
    let rows = popular.map { package, direct in
      [package.name, grouped(direct), grouped(requirers(of: package)), package.summary]
    }
    try Terminal.table(
      "What does this machine stand on?", ["package", "directly", "in all", "what it is"], [.leading, .trailing, .trailing],
      since: started, rows)
  }

  /// How many packages need this one, directly or by others: a walk over live objects against the links.
  private func requirers(of package: Package) -> Int {
    var seen: Set<String> = [package.name]
    var open = [package]
    while let next = open.popLast() {
      for requirement in next.requirements where !requirement.isRecommendation {
        if let owner = requirement.owner, seen.insert(owner.name).inserted { open.append(owner) }
      }
    }
    return seen.count - 1
  }

  private func askSections(_ store: Store) throws {
    let started = ContinuousClock.now
    let packages = store.objects(Package.self)
    let rows = try store.objects(Section.self)
      .map { section in
        let own = packages.where { $0.section == section }
        return (section.name, own.count, try own.sum(of: \.installedKilobytes))
      }
      .sorted { ($0.1, $1.0) > ($1.1, $0.0) }
      .prefix(10)
      .map { [$0.0, grouped($0.1), grouped($0.2 / 1024)] }
    try Terminal.table(
      "What is it made of?", ["section", "packages", "MB"], [.leading, .trailing, .trailing], since: started, Array(rows))
  }

  private func askUnmet(_ store: Store) throws {
    let started = ContinuousClock.now
    let unmet = store.objects(Dependency.self).where { $0.target == nil }.sorted(by: \.name)
    let rows = unmet.prefix(8).map { dependency in
      [
        dependency.name, dependency.isRecommendation ? "recommended" : "needed",
        dependency.owner?.name ?? "-",
      ]
    }
    try Terminal.table(
      "What is asked for and not installed? \(grouped(unmet.count)), the first by name:", ["name", "", "by"], since: started, rows)
  }

  private func askForOne(_ store: Store) throws {
    let started = ContinuousClock.now
    let name = store.object(Package.self, forPrimaryKey: "bash") == nil ? store.objects(Package.self).first?.name ?? "" : "bash"
    guard let package = store.object(Package.self, forPrimaryKey: name) else { return }
    try Terminal.table(
      "What is '\(name)'? By primary key.", ["property", "value"], since: started,
      [
        ["version", package.version], ["section", package.section?.name ?? "-"],
        ["maintainer", package.maintainer?.name ?? "-"], ["kilobytes", grouped(package.installedKilobytes)],
        ["needs", package.dependencies.map(\.name).joined(separator: ", ")],
        ["of the same section", grouped((package.section?.packages.count ?? 1) - 1)],
      ])
  }

  private func askForLarge(_ store: Store) throws {
    let started = ContinuousClock.now
    let large = store.objects(Package.self)
      .where { $0.installedKilobytes >= 10_000 && !$0.isEssential }
      .sorted(by: \.installedKilobytes, ascending: false)
    let rows = large.prefix(6).map { [$0.name, grouped($0.installedKilobytes / 1024), $0.section?.name ?? "-"] }
    try Terminal.table(
      "Which \(grouped(large.count)) take 10 MB and more, largest first?", ["package", "MB", "section"], [.leading, .trailing],
      since: started, rows)
  }
}
