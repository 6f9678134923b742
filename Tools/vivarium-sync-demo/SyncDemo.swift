import ArgumentParser
import Foundation
import SyncProving

/// A server and two devices of one person, with a wire that is cut and mended.
@main struct SyncDemo: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "demo sync",
    abstract: "Shows two devices of one person that work without each other and are the same again.",
    discussion: """
      Starts a server, and the list of tasks twice, each in a folder of its own. Both see what the other does; then the wires \
      between them are cut, both change the same things, the wires are mended, and both show the same. Ends with 1 where they do not.
      """)

  @Option(help: "Where the server and the devices keep their files; it stays. Without it, a temporary folder that is removed.")
  var folder: String?
  @Flag(help: "Two servers over one PostgreSQL, which it starts for itself, in place of one over a folder; each device is at another one.")
  var postgres = false

  func run() throws {
    guard Demonstration.run("sync", in: folder, show) else { throw ExitCode.failure }
  }

  private func show(_ place: URL) throws {
    Demonstration.title(postgres ? "Two servers over one database, and two devices of Ann" : "A server, and two devices of Ann")
    let database = postgres ? try PostgresFolder() : nil
    let kept = database.map { ["--postgres", $0.address()] } ?? ["--folder", place.appending(path: "server").path]
    let token = try ServerProgram.token(at: kept, user: "ann")
    let servers = try (0..<(postgres ? 2 : 1)).map { _ in try ServerProgram(at: kept) }
    let ports = servers.map(\.port)
    let laptop = try Device("laptop", in: place, port: ports[0], token: token)
    let phone = try Device("phone", in: place, port: ports[ports.count - 1], token: token)
    print(
      postgres
        ? "  The servers keep their stores in a PostgreSQL of this demonstration's own. Each device has a file, a wire and a server."
        : "  The server keeps its stores in '\(place.path)/server'. Each device has a file and a wire of its own.")
    laptop.person("add Groceries Bread", "add Groceries Apples", "add Work Report")
    // Told by its observer, as any app would be.
    phone.say("wait 3")
    try compare(laptop, phone, told: [phone], "What one does the other shows:")

    Demonstration.title("The wires are cut, and both go on")
    for device in [laptop, phone] { try device.wire.cut() }
    for device in [laptop, phone] { device.say("sharing offline") }
    laptop.person("done 1", "add Groceries Milk", "done 4")
    phone.person("done 2", "add Groceries Butter", "up 2", "delete 4")
    let (mine, theirs) = (try laptop.shown(), try phone.shown())
    columns(laptop, mine, phone, theirs)
    guard mine != theirs else { throw Demonstration.Trouble("Both show the same although nothing can go between them.") }

    Demonstration.title("The wires are mended")
    for device in [laptop, phone] { try device.wire.mend() }
    // What waits on one has to be at the server before the other can be asked whether it has all.
    for device in [laptop, phone, laptop, phone] {
      device.say("synced")
      _ = try device.shown()
    }
    try compare(laptop, phone, told: [laptop, phone], "Both show the same:")
    print("  The report that one finished is gone, as the other had deleted it; everything else of both is there.")
    laptop.end()
    phone.end()
    for server in servers { server.end() }
  }

  /// Shows both, what their observers were told, and whether they are the same.
  private func compare(_ one: Device, _ other: Device, told: [Device], _ what: String) throws {
    one.say("synced")
    let (a, b) = (try one.shown(), try other.shown())
    print("  \(what)")
    columns(one, a, other, b)
    for device in told {
      for line in try device.notifications() { print("  \(device.name)'s observer was told: \(line)") }
    }
    guard a == b else { throw Demonstration.Trouble("They are not the same.") }
  }

  private func columns(_ one: Device, _ left: [String], _ other: Device, _ right: [String]) {
    let width = 30
    print("    \("\(one.name) (\(one.sharing.prefix(12)))".padded(width))\(other.name) (\(other.sharing.prefix(12)))")
    for row in 0..<max(left.count, right.count) {
      let (a, b) = (row < left.count ? left[row] : "", row < right.count ? right[row] : "")
      print("    \(a.padded(width))\(b)")
    }
  }
}
