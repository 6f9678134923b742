#if Encryption
import Foundation
import Testing
import VivariumTestSupport

/// Passphrases as the program asks for them: of the store that is there, and of the one that is made.
@Suite struct PassphraseTests {
  private func inspect(_ arguments: [String], _ lines: String = "") throws -> InspectProcess {
    let pipe = Pipe()
    // A few lines, which a pipe takes at once.
    try pipe.fileHandleForWriting.write(contentsOf: Data(lines.utf8))
    try pipe.fileHandleForWriting.close()
    return try InspectProcess(arguments, input: pipe.fileHandleForReading)
  }

  @Test(arguments: FileKind.allCases) func aNewPassphraseIsTheNextLineOfTheInput(kind: FileKind) throws {
    let shop = try Shop(kind)
    let digest = try InspectProcess(["digest", shop.url.path]).output
    let (sealed, other) = (shop.directory.file("sealed").path, shop.directory.file("other").path)
    let json = shop.directory.file("json")
    let backup = try inspect(["backup", shop.url.path, sealed, "--new-passphrase"], "Zürich am See\n")
    #expect(backup.status == 0, "\(backup)")
    #expect(try InspectProcess(["digest", sealed]).status == 3)
    #expect(try inspect(["digest", sealed, "--passphrase"], "Zürich am See\n").output == digest)
    // The old one first, whatever the order of the options.
    let change = try inspect(["change-key", sealed, "--new-passphrase", "--passphrase"], "Zürich am See\nBasel\n")
    #expect(change.status == 0, "\(change)")
    #expect(try inspect(["digest", sealed, "--passphrase"], "Basel\n").output == digest)
    let copy = try inspect(["copy", sealed, other, "--to", "sqlite", "--passphrase", "--new-passphrase"], "Basel\nBern\n")
    #expect(copy.status == 0, "\(copy)")
    #expect(try inspect(["digest", other, "--passphrase"], "Bern\n").output == digest)
    try Data(InspectProcess(["export", shop.url.path]).output.utf8).write(to: json)
    let imported = shop.directory.file("imported").path
    let made = try inspect(["import", imported, "--to", kind.rawValue, "--from", json.path, "--new-passphrase"], "Genf\n")
    #expect(made.status == 0, "\(made)")
    #expect(try inspect(["digest", imported, "--passphrase"], "Genf\n").output == digest)
  }

  @Test func aNewPassphraseThatIsMissingOrInTheWayIsRefused() throws {
    let shop = try Shop(.sqlite)
    let made = shop.directory.file("made").path
    for (arguments, lines) in [
      (["backup", shop.url.path, made, "--new-passphrase"], ""), (["backup", shop.url.path, made, "--new-passphrase", "--plain"], "a\n"),
      (["backup", shop.url.path, made, "--new-passphrase", "--new-key-file", made], "a\n"),
      (["import", made, "--to", "lmdb", "--new-passphrase"], "a\n{}"),
      (["change-key", shop.url.path, "--plain", "--new-passphrase"], "a\n"),
    ] {
      let run = try inspect(arguments, lines)
      #expect(run.status == 2 && run.complainedInOneLine, "\(arguments): \(run)")
      #expect(!FileManager.default.fileExists(atPath: made))
    }
  }

  #if os(Linux)
  @Test func aTerminalIsAskedTwiceAndShowsNothing() throws {
    // Without it 'inspect' would ask the terminal of who runs the tests.
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/setsid") else { return print("Not run: there is no setsid.") }
    let shop = try Shop(.sqlite)
    let made = shop.directory.file("made").path
    let arguments = ["backup", shop.url.path, made, "--new-passphrase"]
    let mistyped = try AskedProcess(arguments, ["Zug", "Zup"])
    #expect(mistyped.status == 2 && mistyped.said.contains("differ"), "\(mistyped)")
    #expect(!FileManager.default.fileExists(atPath: made))
    let typed = try AskedProcess(arguments, ["Zug", "Zug"])
    #expect(typed.status == 0, "\(typed)")
    #expect(try inspect(["digest", made, "--passphrase"], "Zug\n").output == InspectProcess(["digest", shop.url.path]).output)
    for run in [mistyped, typed] { #expect(!run.shown.contains("Zu") && !run.said.contains("Zu"), "\(run)") }
  }
  #endif
}

#if os(Linux)
/// The program at a terminal of its own, at which somebody answers each question when it is asked.
private struct AskedProcess {
  let status: Int32
  /// Its questions and complaints.
  private(set) var said = ""
  /// What the terminal shows of what is typed.
  let shown: String

  init(_ arguments: [String], _ answers: [String]) throws {
    var (master, slave): (Int32, Int32) = (-1, -1)
    guard openpty(&master, &slave, nil, nil, nil) == 0 else { throw CocoaError(.fileNoSuchFile) }
    let terminal = FileHandle(fileDescriptor: master, closeOnDealloc: true)
    let side = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
    let (process, questions) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: "/usr/bin/setsid")
    process.arguments = ["--wait", try InspectProcess.program().path] + arguments
    process.standardInput = side
    process.standardOutput = FileHandle.nullDevice
    process.standardError = questions
    try process.run()
    try questions.fileHandleForWriting.close()
    for (position, answer) in answers.enumerated() {
      // It forgets what was typed before it asks.
      while said.split(separator: ": ", omittingEmptySubsequences: false).count < position + 2 {
        let data = questions.fileHandleForReading.availableData
        if data.isEmpty { break }
        said += String(decoding: data, as: UTF8.self)
      }
      try terminal.write(contentsOf: Data((answer + "\n").utf8))
    }
    said += String(decoding: questions.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    status = process.terminationStatus
    try side.close()
    var (bytes, shown) = ([UInt8](repeating: 0, count: 4_096), "")
    while case let count = read(master, &bytes, bytes.count), count > 0 { shown += String(decoding: bytes[..<count], as: UTF8.self) }
    self.shown = shown
  }
}
#endif
#endif
