import StorageCoordination
import StorageInterface
import Testing

@Suite("The folder of a file")
struct FolderTests {
  @Test("is synced by the file's path, also where that has no folder of its own, and an error where it is missing")
  func syncing() throws {
    let scratch = try Scratch()
    try Folder.sync(of: scratch.touch("a"))
    try Folder.sync(of: scratch.file("not made yet"))
    try Folder.sync(of: "name")
    try Folder.sync(of: "/name")
    let error = #expect(throws: StorageError.self) { try Folder.sync(of: scratch.file("missing/a")) }
    #expect(error?.code == .fileNotFound)
  }

  @Test(
    "ends with the last slash, also where the name begins with a mark that is one character with it",
    arguments: ["a", "\u{301}a", "\u{200D}"])
  func splitting(_ name: String) throws {
    for folder in ["", "/", "x/", "/x/y/"] {
      let (found, rest) = Folder.split(folder + name)
      #expect(found == (folder.isEmpty ? "./" : folder) && rest == name)
      #expect(Folder.before(folder + name) == folder)
    }
    let scratch = try Scratch()
    try Folder.sync(of: scratch.touch(name))
    let error = #expect(throws: StorageError.self) { try Folder.sync(of: scratch.file("missing/" + name)) }
    #expect(error?.code == .fileNotFound)
  }
}
