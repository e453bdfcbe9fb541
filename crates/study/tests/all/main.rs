//! What the crate does, as others see it: one program with a module for each subject.
