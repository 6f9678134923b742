#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import StorageCoordination
import StorageInterface
import Synchronization

/// The address space that a store's map takes. It is neither memory nor disk space, but a process has at most 128 TiB of it,
/// and one that has used it up cannot even start a thread.
enum AddressSpace {
  /// The number of open stores.
  private static let openCount = Atomic<Int>(0)

  /// The map size in bytes for a file of `fileSize` bytes: room to grow, less of it if many stores are open. 10,000 stores stay
  /// below a third of the address space. A file that outgrows its map gets a larger one.
  static func mapSize(for fileSize: Int) -> Int {
    let count = openCount.load(ordering: .relaxed)
    let room = count < 256 ? 64 << 30 : count < 4_096 ? 4 << 30 : 256 << 20
    let (fourfold, isTooMuch) = fileSize.multipliedReportingOverflow(by: 4)
    return isTooMuch ? room : max(room, fourfold)
  }

  static func opened() { openCount.add(1, ordering: .relaxed) }
  static func closed() { openCount.subtract(1, ordering: .relaxed) }

  /// Whether a map of `bytes` bytes fits into the address space.
  static func hasRoom(_ bytes: Int) -> Bool {
    guard let found = mmap(nil, bytes, PROT_NONE, MAP_PRIVATE | anonymous, -1, 0), found != MAP_FAILED else { return false }
    munmap(found, bytes)
    return true
  }

  /// Throws if the process cannot open the three files of another handle. Must be checked in advance: a handle that fails half
  /// way closes LMDB's lock file, which drops the process's locks on it.
  static func checkDescriptors(_ path: String) throws(StorageError) {
    var found: [Int32] = []
    defer { for descriptor in found { close(descriptor) } }
    for _ in 0..<4 {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw .system(errno, .transaction, doing: "open another map of", path: path) }
      found.append(descriptor)
    }
  }

  #if canImport(Darwin)
  private static let anonymous = MAP_ANON | MAP_NORESERVE
  #else
  private static let anonymous = MAP_ANONYMOUS | MAP_NORESERVE
  #endif
}
