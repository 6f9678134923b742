import StorageInterface
import VivariumTestSupport

/// How long the right to write was not free although whoever had it was dead, in tries of a second. The system frees it with the
/// process, so the first try gets it, unless the machine is busy with other things for a second.
struct LockTries {
  /// After so many seconds a dead holder keeps the others waiting.
  static let most = 10
  static var deadline: Deadline { .after(.seconds(most)) }

  /// The try that got it, at worst.
  private(set) var worst = 0

  /// Takes the right to write and gives it back. Throws a fault if it is not free in the end.
  mutating func take(_ engine: any StorageEngine) throws {
    for number in 1...LockTries.most {
      worst = max(worst, number)
      do throws(StorageError) {
        return try engine.beginWrite(.after(.seconds(1))).end()
      } catch {
        guard error.code == .writeTimeout else { throw error }
      }
    }
    throw CrashFault("a dead holder has kept the right to write for \(LockTries.most) seconds")
  }
}
