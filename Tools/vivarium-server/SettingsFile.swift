#if Sync
import Foundation

/// A file of settings: lines of `name = value`, with the names of the flags; what follows a "#" at the start of a line is a remark.
struct SettingsFile {
  struct Entry {
    let name: String
    let value: String
    /// "FILE:LINE", for who has to mend it.
    let place: String
  }

  let entries: [Entry]

  init(path: String) throws {
    guard let text = try? String(contentsOfFile: path, encoding: .utf8) else {
      throw Trouble("The settings in '\(path)' cannot be read: is the file there, in UTF-8, and readable for this user?")
    }
    try self.init(text, path: path)
  }

  init(_ text: String, path: String) throws {
    var entries: [Entry] = []
    for (number, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let line = line.trimmingCharacters(in: .whitespaces)
      if line.isEmpty || line.hasPrefix("#") { continue }
      let place = "\(path):\(number + 1)"
      guard let equals = line.firstIndex(of: "=") else { throw Trouble("\(place): a setting is written 'name = value'.") }
      let name = line[..<equals].trimmingCharacters(in: .whitespaces)
      let value = line[line.index(after: equals)...].trimmingCharacters(in: .whitespaces)
      guard !value.isEmpty else { throw Trouble("\(place): '\(name)' has no value.") }
      if name != "issuer", let before = entries.first(where: { $0.name == name }) {
        throw Trouble("\(place): '\(name)' is set at \(before.place) already. Remove one of the two.")
      }
      entries.append(Entry(name: name, value: value, place: place))
    }
    self.entries = entries
  }
}

extension SettingsFile.Entry {
  func number(_ range: ClosedRange<Int>) throws -> Int {
    guard let number = Int(value), range.contains(number) else {
      throw Trouble("\(place): '\(name)' is a number from \(range.lowerBound) to \(range.upperBound), and not '\(value)'.")
    }
    return number
  }

  func truth() throws -> Bool {
    switch value {
    case "yes", "true": return true
    case "no", "false": return false
    default: throw Trouble("\(place): '\(name)' is 'yes' or 'no', and not '\(value)'.")
    }
  }
}
#endif
