#if Sync
import ArgumentParser
import Foundation
import SyncProving

/// A phone that asks, and a process of the server that answers and is killed in between.
struct MessagesDemo: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "messages",
    abstract: "Shows a phone that puts orders into its store, and a server that answers in the same objects, each once.",
    discussion: """
      Starts a server and a phone. The phone orders, without a connection too, and the server is killed while it works on an order. Ends \
      with 1 where an order is not answered once.
      """)

  @Option(help: "Where the server and the phone keep their files; it stays. Without it, a temporary folder that is removed.")
  var folder: String?

  func run() throws {
    guard Demonstration.run("messages", in: folder, show) else { throw ExitCode.failure }
  }

  private func show(_ place: URL) throws {
    try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
    let server = place.appending(path: "server").path
    Demonstration.title("A phone asks, a server answers")
    var cafe = try Cafe(server)
    let wire = try Wire(to: cafe.port)
    let phone = try Phone(place.appending(path: "phone.lmdb").path, port: wire.port)
    phone.order("flat white")
    try cafe.brews("flat white")
    try phone.isTold("flat white: success, one flat white for ann")

    Demonstration.title("There is no connection: orders wait in the phone's store")
    try wire.cut()
    phone.order("espresso")
    phone.order("decaf")
    try phone.shows(["espresso: notProcessed", "decaf: notProcessed"])
    try wire.mend()
    print("  It is there again:")
    try phone.isTold("espresso: success, one espresso for ann", "decaf: error, There is none.")
    try cafe.brews("espresso")

    Demonstration.title("The server is killed while it works on an order")
    cafe.end()
    cafe = try Cafe(server, "--hold")
    wire.lead(to: cafe.port)
    phone.order("cortado")
    try cafe.brews("cortado")
    cafe.killNow()
    print("  server  it is killed; nothing of its answer is written")
    cafe = try Cafe(server)
    wire.lead(to: cafe.port)
    print("  server  another process begins")
    try cafe.brews("cortado")
    try phone.isTold("cortado: success, one cortado for ann")
    try phone.shows(["cups: cortado, espresso, flat white"], asked: "cups")
    print("  Each order was answered once: with each answer a cup was written, in one transaction.")
    phone.end()
    cafe.end()
  }
}

/// The server's process.
private struct Cafe {
  private let child: ChildProgram
  let port: Int

  init(_ folder: String, _ more: String...) throws {
    child = try ChildProgram("vivarium-messages-demo", ["cafe", "--folder", folder] + more)
    guard let line = child.line(), let port = Int(line) else { throw Demonstration.Trouble("The server did not start.") }
    self.port = port
  }

  /// Waits until it works on an order. It may have begun an earlier one again, on a machine that stood still for longer than its lease.
  func brews(_ drink: String) throws {
    while let line = child.line() {
      if line == "brewing \(drink)" { return print("  server  brews: \(drink)") }
    }
    throw Demonstration.Trouble("The server ended, and did not brew \(drink).")
  }

  func killNow() { child.killNow() }
  func end() { child.end() }
}

/// The phone's process.
private struct Phone {
  private let child: ChildProgram

  init(_ file: String, port: Int) throws {
    child = try ChildProgram("vivarium-messages-demo", ["phone", "--file", file, "--url", "ws://127.0.0.1:\(port)"])
  }

  func order(_ drink: String) {
    print("  phone   orders: \(drink)")
    child.say("order \(drink)")
  }

  /// Waits until its observer is told of some orders, in any order.
  func isTold(_ expected: String...) throws {
    var open = Set(expected)
    while !open.isEmpty {
      guard let line = child.line() else { throw Demonstration.Trouble("The phone's program has ended.") }
      guard open.remove(line) != nil else {
        throw Demonstration.Trouble("The phone's observer was told '\(line)', and not \(open.sorted()).")
      }
      print("  phone   its observer is told: \(line)")
    }
  }

  /// Asks what is on its screen.
  func shows(_ expected: [String], asked question: String = "waiting") throws {
    child.say(question)
    for expected in expected {
      let line = child.line()
      guard line == expected else { throw Demonstration.Trouble("The phone shows '\(line ?? "nothing")', and not '\(expected)'.") }
      print("  phone   shows: \(expected)")
    }
  }

  func end() { child.end() }
}
#endif
