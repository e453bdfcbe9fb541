//! The program. All it does is in the library beside it, so that tests can do it too.

fn main() -> std::process::ExitCode {
    cli::main()
}
