//! Credentials and regions: from the environment, or from the files that other S3 tools use.

use std::fmt;
use std::path::PathBuf;

/// The keys with which requests are signed. Their debug output hides the secrets.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The access key's ID, which every request contains.
    pub key: String,
    /// The secret access key, which no request contains.
    pub secret: String,
    /// The session token of temporary credentials.
    pub token: Option<String>,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// The reason why there are no credentials.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CredentialsError {
    /// Neither the environment nor the files contain credentials for this profile.
    #[error(
        "no credentials for profile '{0}' (set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or \
         write them to ~/.aws/credentials)"
    )]
    None(String),
    /// This source contains the ID of an access key, but no secret access key.
    #[error("the access key of {0} has no secret access key beside it")]
    NoSecret(String),
    /// A value is empty, or contains a space, a control character, or a byte beyond ASCII.
    #[error("the credentials of {0} contain invalid characters")]
    Invalid(String),
}

/// The source of environment variables and files, which tests replace.
pub struct Environment<'a> {
    /// Returns an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Returns the text of a file.
    pub file: &'a dyn Fn(&PathBuf) -> Option<String>,
}

/// Maximum size in bytes of a file with credentials.
const FILE_BYTES_MAX: u64 = 1 << 20;

impl Environment<'_> {
    /// The environment of this process.
    pub fn own() -> Environment<'static> {
        Environment {
            variable: &|name| std::env::var(name).ok().filter(|value| !value.is_empty()),
            file: &|path| {
                let metadata = std::fs::metadata(path).ok()?;
                let is_sound = metadata.is_file() && metadata.len() <= FILE_BYTES_MAX;
                is_sound
                    .then(|| std::fs::read_to_string(path).ok())
                    .flatten()
            },
        }
    }

    fn profile(&self) -> String {
        let named =
            (self.variable)("AWS_PROFILE").or_else(|| (self.variable)("AWS_DEFAULT_PROFILE"));
        named.unwrap_or_else(|| "default".to_owned())
    }

    /// Returns the section of a profile in the configuration file or in the credentials file. In
    /// the configuration file, the names of all sections except `default` begin with `profile`.
    fn section(&self, is_configuration: bool, profile: &str) -> Option<Vec<(String, String)>> {
        let (variable, name) = match is_configuration {
            true => ("AWS_CONFIG_FILE", "config"),
            false => ("AWS_SHARED_CREDENTIALS_FILE", "credentials"),
        };
        let home =
            || (self.variable)("HOME").map(|home| PathBuf::from(home).join(".aws").join(name));
        let path = (self.variable)(variable).map(PathBuf::from).or_else(home)?;
        let text = (self.file)(&path)?;
        let section = match is_configuration && profile != "default" {
            true => format!("profile {profile}"),
            false => profile.to_owned(),
        };
        Some(values_of(&text, &section))
    }

    /// Finds credentials: those of the environment, else those of the profile's sections.
    ///
    /// # Errors
    /// Returns an error that names the variables and files to use.
    pub fn credentials(&self) -> Result<Credentials, CredentialsError> {
        let variable = |name| (self.variable)(name);
        if let Some(key) = variable("AWS_ACCESS_KEY_ID") {
            let of = "the environment";
            return of_parts(
                of,
                key,
                variable("AWS_SECRET_ACCESS_KEY"),
                variable("AWS_SESSION_TOKEN"),
            );
        }
        let profile = self.profile();
        for is_configuration in [false, true] {
            let values = self.section(is_configuration, &profile).unwrap_or_default();
            let value = |name: &str| {
                let found = values.iter().find(|(known, _)| known == name);
                found.map(|(_, value)| value.clone())
            };
            if let Some(key) = value("aws_access_key_id") {
                let of = format!("profile '{profile}'");
                let secret = value("aws_secret_access_key");
                return of_parts(&of, key, secret, value("aws_session_token"));
            }
        }
        Err(CredentialsError::None(profile))
    }

    /// Finds the region: that of the environment, else that of the profile.
    pub fn region(&self) -> Option<String> {
        let variable = |name| (self.variable)(name);
        variable("AWS_REGION")
            .or_else(|| variable("AWS_DEFAULT_REGION"))
            .or_else(|| self.configured("region"))
    }

    /// Finds the file with the certificates of authorities that are trusted instead of those of the
    /// system: that of the environment, else that of the profile.
    pub fn authorities(&self) -> Option<PathBuf> {
        let file = (self.variable)("AWS_CA_BUNDLE").or_else(|| self.configured("ca_bundle"));
        file.map(PathBuf::from)
    }

    /// Returns a value of the profile's section in the configuration file.
    fn configured(&self, wanted: &str) -> Option<String> {
        let values = self.section(true, &self.profile())?;
        let mut values = values.into_iter();
        values.find_map(|(name, value)| (name == wanted).then_some(value))
    }
}

fn of_parts(
    of: &str,
    key: String,
    secret: Option<String>,
    token: Option<String>,
) -> Result<Credentials, CredentialsError> {
    let secret = secret.ok_or_else(|| CredentialsError::NoSecret(of.to_owned()))?;
    let is_sound =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    if ![Some(&key), Some(&secret), token.as_ref()]
        .into_iter()
        .flatten()
        .all(|text| is_sound(text))
    {
        return Err(CredentialsError::Invalid(of.to_owned()));
    }
    Ok(Credentials { key, secret, token })
}

/// Returns names and values of a section like `[default]`.
fn values_of(text: &str, section: &str) -> Vec<(String, String)> {
    let mut is_inside = false;
    let mut values = Vec::new();
    for line in text.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            let name = name.split(']').next().unwrap_or_default();
            is_inside = name.split_whitespace().eq(section.split_whitespace());
        } else if is_inside
            && !line.starts_with(['#', ';'])
            && let Some((name, value)) = line.split_once('=')
        {
            values.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(
        variables: &[(&str, &str)],
        files: &[(&str, &str)],
    ) -> (Result<Credentials, CredentialsError>, Option<String>) {
        let owned = |list: &[(&str, &str)], name: &str| {
            let found = list.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let environment = Environment {
            variable: &|name| owned(variables, name),
            file: &|path| owned(files, path.to_str().unwrap()),
        };
        (environment.credentials(), environment.region())
    }

    fn credentials(
        key: &str,
        secret: &str,
        token: Option<&str>,
    ) -> Result<Credentials, CredentialsError> {
        Ok(Credentials {
            key: key.to_owned(),
            secret: secret.to_owned(),
            token: token.map(str::to_owned),
        })
    }

    const FILES: [(&str, &str); 2] = [
        (
            "/home/u/.aws/credentials",
            "[default]\naws_access_key_id = A\naws_secret_access_key=s=1\n# aws_session_token = x\n\
             [ other ]\naws_access_key_id=B\naws_secret_access_key = t\naws_session_token=u\n",
        ),
        (
            "/home/u/.aws/config",
            "[default]\nregion = north\n[profile other]\nregion=south\n[profile third]\n\
             aws_access_key_id = C\naws_secret_access_key = v\n",
        ),
    ];

    #[test]
    fn credentials_are_found_in_environment_and_files() {
        let home = ("HOME", "/home/u");
        let variables = [
            ("AWS_ACCESS_KEY_ID", "K"),
            ("AWS_SECRET_ACCESS_KEY", "S"),
            ("AWS_SESSION_TOKEN", "T"),
            ("AWS_REGION", "west"),
            home,
        ];
        let west = Some("west".to_owned());
        assert_eq!(
            found(&variables, &FILES),
            (credentials("K", "S", Some("T")), west)
        );
        let north = Some("north".to_owned());
        assert_eq!(
            found(&[home], &FILES),
            (credentials("A", "s=1", None), north)
        );
        let other = [home, ("AWS_PROFILE", "other")];
        let south = Some("south".to_owned());
        assert_eq!(
            found(&other, &FILES),
            (credentials("B", "t", Some("u")), south)
        );
        let third = [home, ("AWS_PROFILE", "third")];
        assert_eq!(found(&third, &FILES), (credentials("C", "v", None), None));
        let elsewhere = [("AWS_SHARED_CREDENTIALS_FILE", "/home/u/.aws/credentials")];
        assert_eq!(found(&elsewhere, &FILES).0, credentials("A", "s=1", None));
    }

    #[test]
    fn missing_or_invalid_credentials_are_refused_without_showing_them() {
        let (none, region) = found(&[], &[]);
        assert_eq!(region, None);
        assert!(
            none.unwrap_err()
                .to_string()
                .contains("set AWS_ACCESS_KEY_ID")
        );
        for variables in [
            &[("AWS_ACCESS_KEY_ID", "K")][..],
            &[
                ("AWS_ACCESS_KEY_ID", "K"),
                ("AWS_SECRET_ACCESS_KEY", "hidden\r\nx: y"),
            ],
        ] {
            let refused = found(variables, &FILES).0.unwrap_err().to_string();
            assert!(
                refused.contains("the environment") && !refused.contains("hidden"),
                "{refused}"
            );
        }
    }
}
