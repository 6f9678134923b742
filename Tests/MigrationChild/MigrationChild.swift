import Foundation
import MigrationSamples
import StorageInterface
import Vivarium

/// Migrates a store and dies without warning on the way:
///
///     migration-child KIND PATH STEP TURNS
///
/// before its STEPth call to the engine; with 0 it lives, and prints how many calls there were. With TURNS it dies that many
/// turns of a loop after the commit began, wherever that is.
@main struct MigrationChild {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 5, let step = Int(arguments[3]), let turns = Int(arguments[4]) else { exit(2) }
    let death = Death(step: step, turns: turns)
    let backend = MortalBackend(base: Samples.backend(arguments[1], arguments[2]), death: death)
    _ = try Store(Samples.after(backend), isolation: nil)
    print(death.count)
  }
}
