//! A run spec while its options are set, one after the other.

use workload::contents::ContentSpec;
use workload::sizes::Sizes;
use workload::{Bias, Classic, Mix, Work};

use crate::config_error::ConfigError;
use crate::options::Options;
use crate::run_spec::RunSpec;
use crate::sizes::{Read, SizesOption, resolve_sizes};

/// A run spec that is not complete yet.
pub(crate) struct Draft<'a> {
    /// What is set so far, over the preset and the defaults.
    pub spec: RunSpec,
    /// All options.
    pub options: &'a Options,
    /// Whether the work is a preset's mix, whose sizes of appends do not follow those of files.
    pub is_preset_mix: bool,
    /// How a histogram's file is read.
    pub read: &'a Read<'a>,
}

impl Draft<'_> {
    /// Changes the classic work; a mix stays as it is.
    pub fn classic(&mut self, change: impl FnOnce(&mut Classic)) {
        self.either(change, |_| ());
    }

    /// Changes the mix; the classic work stays as it is.
    pub fn mix(&mut self, change: impl FnOnce(&mut Mix)) {
        self.either(|_| (), change);
    }

    /// Changes the work, whichever it is.
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

    /// What files hold.
    pub fn contents(&mut self) -> &mut ContentSpec {
        let contents = &mut self.spec.workload.contents;
        contents.get_or_insert_with(ContentSpec::default)
    }

    /// Sets a chance of the classic pairs.
    pub fn set_bias(
        &mut self,
        tenths: i64,
        set: impl FnOnce(&mut Classic, Bias),
    ) -> Result<(), ConfigError> {
        let bias = Bias::new(tenths)?;
        self.classic(|classic| set(classic, bias));
        Ok(())
    }

    /// Sets sizes of a mix.
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
