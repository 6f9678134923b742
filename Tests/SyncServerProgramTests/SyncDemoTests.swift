#if Sync
import Foundation
import SyncProving
import Testing
import VivariumTestSupport

@Suite("The conformance program")
struct SyncConformanceTests {
  @Test("finds that our server keeps every rule of the protocol")
  func ours() throws {
    let directory = TemporaryDirectory()
    let folder = directory.url.appending(path: "server").path
    let (token, other) = (try ServerProgram.token(folder: folder, user: "ann"), try ServerProgram.token(folder: folder, user: "bob"))
    let server = try ServerProgram(folder: folder)
    let (output, status) = try ChildProgram.run(
      "sync-conformance", "ws://127.0.0.1:\(server.port)", "--token", token, "--other-token", other)
    #expect(status == 0, "\(output)")
    let lines = output.split(separator: "\n")
    #expect(lines.count { $0.hasPrefix("ok ") } >= 40, "\(output)")
    // What it cannot have this server do, which the tests of the host do.
    #expect(lines.count { $0.hasPrefix("not tried") && $0.contains("forgets entries") } == 2, "\(output)")
    server.end()
  }

  @Test("finds that a server without the user does not")
  func others() throws {
    let directory = TemporaryDirectory()
    let server = try ServerProgram(folder: directory.url.appending(path: "server").path)
    let (output, status) = try ChildProgram.run(
      "sync-conformance", "ws://127.0.0.1:\(server.port)", "--token", "nobody", "--rule", "pong")
    #expect(status == 1 && output.contains("failed"), "\(output)")
    server.end()
  }
}

@Suite("The demonstration of two devices")
struct SyncDemoTests {
  @Test("has both work while their wires are cut, and shows that they are the same again")
  func demonstration() throws {
    let directory = TemporaryDirectory()
    let demo = try ChildProgram("vivarium-sync-demo", ["--folder", directory.url.path])
    var lines: [String] = []
    while let line = demo.line() { lines.append(line) }
    #expect(demo.end() == 0, "\(lines.joined(separator: "\n"))")
    #expect(lines.contains { $0.contains("laptop (offline") && $0.contains("phone (offline") })
    // Both are told, by ordinary observers, what the other did meanwhile.
    for device in ["laptop", "phone"] { #expect(lines.contains { $0.hasPrefix("  \(device)'s observer was told: another device: ") }) }
  }

  @Test("has a phone ask and a server answer, once though it is killed while it works")
  func messages() throws {
    let directory = TemporaryDirectory()
    let (output, status) = try ChildProgram.run("vivarium-messages-demo", "--folder", directory.url.path)
    #expect(status == 0, "\(output)")
    #expect(output.contains("decaf: error, There is none."), "\(output)")
    #expect(output.contains("cups: cortado, espresso, flat white"), "\(output)")
  }

  @Test("shares a list that was there before, and says where it stands")
  func adoption() throws {
    let directory = TemporaryDirectory()
    let folder = directory.url.appending(path: "server").path
    let token = try ServerProgram.token(folder: folder, user: "ann")
    let path = directory.url.appending(path: "tasks.lmdb").path
    let alone = try ChildProgram("vivarium-tasks", ["--path", path, "--script"])
    alone.say("add Home Bread")
    alone.say("sharing")
    #expect(alone.line() == "not shared")
    #expect(alone.end() == 0)
    let server = try ServerProgram(folder: folder)
    let sync = ["--script", "--sync", "ws://127.0.0.1:\(server.port)", "--token", token]
    let first = try ChildProgram("vivarium-tasks", ["--path", path] + sync)
    first.say("add Home Milk")
    first.say("synced")
    first.say("sharing online")
    first.say("sharing")
    #expect(first.line() == "online")
    #expect(first.end() == 0)
    let second = try ChildProgram("vivarium-tasks", ["--path", directory.url.appending(path: "second.lmdb").path] + sync)
    second.say("wait 2")
    second.say("show")
    #expect(second.line() == "2 of 2 to do")
    #expect(second.end() == 0)
    // Without a server the list goes on as a replica: what is done now is sent the next time.
    let offline = try ChildProgram("vivarium-tasks", ["--path", path, "--script"])
    offline.say("done 1")
    offline.say("show")
    #expect(offline.line() == "1 of 2 to do")
    #expect(offline.end() == 0)
    #expect(server.end() == 0)
  }
}
#endif
