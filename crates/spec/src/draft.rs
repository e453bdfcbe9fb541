//! A run spec while options are applied to it, one after the other.

use workload::contents::ContentSpec;
use workload::sizes::Sizes;
use workload::{Bias, Classic, Mix, Work};

use crate::config_error::ConfigError;
use crate::options::Options;
use crate::run_spec::RunSpec;
use crate::sizes::{Read, SizesOption, resolve_sizes};

/// An incomplete run spec.
pub(crate) struct Draft<'a> {
    /// The result of the preset, the defaults, and the options applied until now.
    pub spec: RunSpec,
    pub options: &'a Options,
    /// Whether the workload is a preset's mix. Its append sizes do not follow the file sizes.
    pub is_preset_mix: bool,
    /// Reads the file of a histogram.
    pub read: &'a Read<'a>,
}

impl Draft<'_> {
    /// Applies `change` to a classic workload; a mix stays unchanged.
    pub fn classic(&mut self, change: impl FnOnce(&mut Classic)) {
        self.either(change, |_| ());
    }

    /// Applies `change` to a mix; a classic workload stays unchanged.
    pub fn mix(&mut self, change: impl FnOnce(&mut Mix)) {
        self.either(|_| (), change);
    }

    /// Applies the function for the kind of workload, classic or mix.
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

    /// Contents of files; inserts the default if none are set.
    pub fn contents(&mut self) -> &mut ContentSpec {
        let contents = &mut self.spec.workload.contents;
        contents.get_or_insert_with(ContentSpec::default)
    }

    /// Sets one of the classic biases, in tenths.
    pub fn set_bias(
        &mut self,
        tenths: i64,
        set: impl FnOnce(&mut Classic, Bias),
    ) -> Result<(), ConfigError> {
        let bias = Bias::new(tenths)?;
        self.classic(|classic| set(classic, bias));
        Ok(())
    }

    /// Resolves sizes and applies them to a mix. Errors name `option`.
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
