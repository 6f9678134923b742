#if Sync
import ArgumentParser
import Foundation
import SyncServer

/// `vivarium-server export …`
struct ExportCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Writes the objects of a store to a file, as lines of JSON.",
    discussion: """
      Where the store is in a folder, the server has to be ended before. The file must not be there; it is there as a whole or not at all, \
      and nobody else can read it.
      """)
  @OptionGroup var option: PlaceOption
  @Argument(help: "The store: '/ann/tasks'.") var path: String
  @Argument(help: "The file.") var file: String

  func run() async throws {
    guard let path = StorePath(self.path) else { throw Trouble("'\(self.path)' is no path of a store.") }
    guard !FileManager.default.fileExists(atPath: file) else { throw Trouble("There is a file '\(file)' already.") }
    let export = try await option.place.withStores { try await StoreExport(path, of: $0) }
    let unfinished = file + ".part"
    guard FileManager.default.createFile(atPath: unfinished, contents: nil, attributes: [.posixPermissions: NSNumber(value: Int16(0o600))]),
      let handle = FileHandle(forWritingAtPath: unfinished)
    else { throw Trouble("The file '\(unfinished)' cannot be made.") }
    do {
      let count = try export.lines { line in try handle.write(contentsOf: line + [UInt8(ascii: "\n")]) }
      try handle.synchronize()
      try handle.close()
      try FileManager.default.moveItem(atPath: unfinished, toPath: file)
      print("\(count) objects")
    } catch {
      try? FileManager.default.removeItem(atPath: unfinished)
      throw Trouble("The file '\(file)' cannot be written: \(error.localizedDescription)")
    }
  }
}
#endif
