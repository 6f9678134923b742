import Foundation
import StorageCoordination
import Testing
import VivariumTestSupport

/// Whether a file is mounted by itself. That it is found where one is, tests of the engines show.
@Suite struct MountedFileTests {
  @Test func neitherAFileNorAFolderNorNothingIsMounted() throws {
    let folder = TemporaryDirectory("mounts")
    try "a".write(to: folder.file("file"), atomically: false, encoding: .utf8)
    #expect(!MountedFile.isMounted(folder.file("file").path))
    #expect(!MountedFile.isMounted(folder.url.path))
    #expect(!MountedFile.isMounted(folder.file("none").path))
  }

  /// As Linux before 5.8 says it.
  @Test func aListOfMountsTellsWhatIsMounted() {
    let mounts = """
      22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/root rw
      36 22 254:0 /data/shop.store /srv/shop.store rw,relatime shared:1 - ext4 /dev/root rw
      37 22 254:0 /data /srv/with\\040space\\134\\011 rw - ext4 /dev/root rw
      broken
      38 22
      """
    for path in ["/", "/srv/shop.store", "/srv/with space\\\t"] { #expect(MountedFile.isMounted(path, in: mounts), "\(path)") }
    for path in ["/data/shop.store", "/srv", "/srv/with", "", "broken"] { #expect(!MountedFile.isMounted(path, in: mounts), "\(path)") }
  }
}
