import StorageMemory
import Vivarium

// Stands before `Models.swift` on purpose, and reads through a link: in a module that is compiled whole, as release builds are, the
// compiler comes here before it has seen what a macro adds to the models. That it builds is the test. Other lines between
// these two would hide the fault.

func branchName(of leaf: Leaf?) -> String { leaf?.branch?.name ?? "" }
func configuration() -> Store.Configuration { .memory("late", models: Leaf.self, Branch.self) }
