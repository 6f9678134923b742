import Foundation

/// One package as dpkg's status file, or an index of apt, describes it.
struct DebianPackage {
  /// `name`, or `name:architecture` where one name is installed for several.
  var name = ""
  var architecture = ""
  var version = ""
  var section = "unknown"
  var maintainer = "unknown"
  var summary = ""
  var isEssential = false
  var installedKilobytes = 0
  var dependencies: [DebianDependency] = []
  var provides: [String] = []
}

/// `libc6 (>= 2.34) | libc6.1`: any of these satisfies it.
struct DebianDependency {
  var alternatives: [(name: String, constraint: String)]
  var isRecommendation: Bool
}

/// Reads the stanzas of a Debian control file.
enum DebianStatus {
  static let defaultPath = "/var/lib/dpkg/status"

  /// The installed packages of a status file, or all of an index without states. Names are unique in the result.
  static func packages(at path: String) throws -> [DebianPackage] {
    let data: Data
    do { data = try Data(contentsOf: URL(fileURLWithPath: path)) } catch {
      throw DemoError("\(path) cannot be read: is it a file of packages, like \(defaultPath)?")
    }
    var packages: [DebianPackage] = []
    var names: Set<String> = []
    var stanza: [String: String] = [:]
    for line in data.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false) + [Data()[...]] {
      if line.isEmpty {
        if var package = DebianPackage(stanza) {
          if names.contains(package.name) { package.name += ":" + package.architecture }
          if names.insert(package.name).inserted { packages.append(package) }
        }
        stanza.removeAll(keepingCapacity: true)
      } else if line.first != UInt8(ascii: " "), line.first != UInt8(ascii: "\t"),
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
      {
        let value = line[line.index(after: colon)...]
        stanza[String(decoding: line[..<colon], as: UTF8.self)] =
          String(decoding: value, as: UTF8.self).trimmingCharacters(in: .whitespaces)
      }
    }
    if packages.isEmpty { throw DemoError("\(path) lists no packages.") }
    return packages
  }
}

extension DebianPackage {
  /// nil when the stanza is no package, or one that is not installed.
  init?(_ stanza: [String: String]) {
    guard let name = stanza["Package"], !name.isEmpty else { return nil }
    if let status = stanza["Status"], !status.hasSuffix(" installed") { return nil }
    self.name = name
    architecture = stanza["Architecture"] ?? ""
    version = stanza["Version"] ?? ""
    section = stanza["Section"] ?? section
    maintainer = stanza["Maintainer"] ?? maintainer
    summary = stanza["Description"] ?? ""
    isEssential = stanza["Essential"] == "yes"
    installedKilobytes = stanza["Installed-Size"].flatMap { Int($0) } ?? 0
    for (field, isRecommendation) in [("Pre-Depends", false), ("Depends", false), ("Recommends", true)] {
      for text in (stanza[field] ?? "").split(separator: ",") {
        let alternatives = text.split(separator: "|").map(DebianPackage.relation)
        dependencies.append(DebianDependency(alternatives: alternatives, isRecommendation: isRecommendation))
      }
    }
    provides = (stanza["Provides"] ?? "").split(separator: ",").map { DebianPackage.relation($0).name }
  }

  /// `python3:any (>= 3.9)` is the name `python3` with the constraint `>= 3.9`.
  private static func relation(_ text: Substring) -> (name: String, constraint: String) {
    let parts = text.split(separator: "(", maxSplits: 1)
    let name = (parts.first ?? "").split(separator: ":").first ?? ""
    let constraint = parts.count > 1 ? parts[1].prefix { $0 != ")" } : ""
    return (name.trimmingCharacters(in: .whitespaces), constraint.trimmingCharacters(in: .whitespaces))
  }
}
