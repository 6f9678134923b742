import Foundation
import Vivarium

extension PackageWorld {
  func watch(_ store: Store) async throws {
    let largest = store.objects(Package.self).sorted(by: \.installedKilobytes, ascending: false)
    try await Watching.change(of: largest, "packages, the largest first") { "\($0.name) with \(grouped($0.installedKilobytes)) kB" }
  }

  nonisolated static func change(_ store: Store) throws {
    let bySize = store.objects(Package.self).sorted(by: \.installedKilobytes)
    guard let smallest = bySize.first, let largest = bySize.last else { return }
    smallest.installedKilobytes = largest.installedKilobytes + 1
    Terminal.say("  second: makes \(smallest.name), the smallest package, the largest")
  }
}
