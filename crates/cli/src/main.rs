//! The program's entry point. All code is in the library crate, so that tests can call it.

fn main() -> std::process::ExitCode {
    cli::main()
}
