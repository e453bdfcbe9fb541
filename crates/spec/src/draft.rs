//! A run spec to which options are being applied, one after the other.

use workload::contents::ContentSpec;
use workload::sizes::Sizes;
use workload::{Bias, Classic, Mix, Work};

use crate::config_error::ConfigError;
use crate::options::Options;
use crate::run_spec::RunSpec;
use crate::sizes::{Read, SizesOption, resolve_sizes};

/// A run spec to which not all options have been applied.
pub(crate) struct Draft<'a> {
    /// The spec of the preset or the defaults, after the options that were already applied.
    pub spec: RunSpec,
    pub options: &'a Options,
    /// Whether the workload is the mix of a preset, which sets the append sizes. In other mixes,
    /// append sizes follow from the file sizes.
    pub is_preset_mix: bool,
    /// Reads a histogram from a file.
    pub read: &'a Read<'a>,
}

impl Draft<'_> {
    /// Applies `change` to a classic workload. A mix remains unchanged.
    pub fn classic(&mut self, change: impl FnOnce(&mut Classic)) {
        self.either(change, |_| ());
    }

    /// Applies `change` to a mix. A classic workload remains unchanged.
    pub fn mix(&mut self, change: impl FnOnce(&mut Mix)) {
        self.either(|_| (), change);
    }

    /// Applies one of two functions, depending on whether the workload is classic or a mix.
    pub fn either<T>(
        &mut self,
        classic: impl FnOnce(&mut Classic) -> T,
        mix: impl FnOnce(&mut Mix) -> T,
    ) -> T {
        match &mut self.spec.workload.work {
            Work::Classic(work) => classic(work),
            Work::Mix(work) => mix(work),
        }
    }

    /// Returns the contents of files. If no contents are set, first sets the default.
    pub fn contents(&mut self) -> &mut ContentSpec {
        let contents = &mut self.spec.workload.contents;
        contents.get_or_insert_with(ContentSpec::default)
    }

    /// Sets a bias of the classic workload, in tenths.
    pub fn set_bias(
        &mut self,
        tenths: i64,
        set: impl FnOnce(&mut Classic, Bias),
    ) -> Result<(), ConfigError> {
        let bias = Bias::new(tenths)?;
        self.classic(|classic| set(classic, bias));
        Ok(())
    }

    /// Resolves sizes, and applies `set` with these sizes to a mix. Errors name `option`.
    pub fn set_sizes(
        &mut self,
        option: &str,
        sizes: &SizesOption,
        set: impl FnOnce(&mut Mix, Sizes),
    ) -> Result<(), ConfigError> {
        let sizes = resolve_sizes(option, sizes, self.read)?;
        self.mix(|mix| set(mix, sizes));
        Ok(())
    }
}
