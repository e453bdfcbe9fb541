//! The costs of phases, parsed from the output of the compared programs.

use crate::result::Result;

/// Cost of a phase: wall time from the first worker's start to the last worker's end, and processor
/// time of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    pub wall_s: f64,
    pub user_s: f64,
    pub system_s: f64,
}

impl std::ops::Add for Cost {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            wall_s: self.wall_s + other.wall_s,
            user_s: self.user_s + other.user_s,
            system_s: self.system_s + other.system_s,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Costs {
    pub prepare: Cost,
    pub transactions: Cost,
    pub delete: Cost,
}

impl Costs {
    pub fn sum(&self) -> Cost {
        self.prepare + self.transactions + self.delete
    }

    /// Parses a program's output: for each phase a line with its name and three numbers in seconds.
    pub fn parse(text: &str) -> Result<Self> {
        let of = |name: &str| cost(&mut numbers_of(text, name)?.split_whitespace());
        Ok(Self {
            prepare: of("prepare ")?,
            transactions: of("transactions ")?,
            delete: of("delete ")?,
        })
    }
}

/// Parses a cost from the next three numbers: wall time, user CPU and system CPU, in seconds.
pub fn cost<'a>(numbers: &mut impl Iterator<Item = &'a str>) -> Result<Cost> {
    let mut next = || -> Result<f64> { Ok(numbers.next().ok_or("a number is missing")?.parse()?) };
    Ok(Cost {
        wall_s: next()?,
        user_s: next()?,
        system_s: next()?,
    })
}

/// The text after `name` in the first line that begins with it.
///
/// # Errors
/// Returns an error if no line begins with `name`.
pub fn numbers_of<'a>(text: &'a str, name: &str) -> Result<&'a str> {
    let numbers = text.lines().find_map(|line| line.strip_prefix(name));
    Ok(numbers.ok_or_else(|| format!("no line '{name}' in {text:?}"))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn phase_costs_that_the_c_program_prints_are_parsed() {
        let costs =
            Costs::parse("prepare 1.5 0.25 1\ntransactions 2 0.5 1.5\ndelete 0.5 0.25 0.25\n")
                .unwrap();
        assert_eq!(costs.transactions.system_s, 1.5);
        let sum = costs.sum();
        assert_eq!((sum.wall_s, sum.user_s, sum.system_s), (4.0, 1.0, 2.75));
        let rates = "rates of prepare 1.5
rates of transactions 2
";
        assert_eq!(numbers_of(rates, "rates of transactions ").unwrap(), "2");
        assert!(numbers_of(rates, "rates of delete ").is_err());
        assert!(Costs::parse("prepare 1 2 3\n").is_err());
        assert!(
            Costs::parse("prepare 1 2\ntransactions 2 0.5 1.5\ndelete 0.5 0.25 0.25\n").is_err()
        );
    }
}
