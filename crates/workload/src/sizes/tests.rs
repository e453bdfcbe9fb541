use super::text::parse_histogram;
use super::*;

#[test]
fn sizes_parse_and_print() {
    for text in [
        "0",
        "4KiB",
        "1000",
        "500..10000",
        "0..1GiB",
        "4KiB..4KiB",
        "lognormal:median=8KiB,sigma=1.2,max=1MiB",
        "lognormal:median=100,sigma=0.125,max=1MiB,min=16",
        "exponential:mean=16KiB,max=1MiB",
        "exponential:mean=16KiB,max=1MiB,min=0",
        "histogram:0..1KiB=30,1KiB..8KiB=50,64KiB=20",
    ] {
        let sizes: Sizes = text.parse().unwrap();
        assert_eq!(sizes.to_string(), text);
        let value = toml::Value::try_from(&sizes).unwrap();
        assert_eq!(value.as_str(), Some(text));
        assert_eq!(value.try_into::<Sizes>().unwrap(), sizes);
    }
    assert_eq!(
        "1024-2k".parse(),
        Ok(Sizes::Uniform {
            low: 1_024,
            high: 2_000
        })
    );
    assert_eq!(
        " lognormal: max=1MiB, sigma=2, median=5 ".parse(),
        Ok(Sizes::Lognormal {
            median: 5,
            sigma: 2.0,
            low: 1,
            high: 1 << 20
        })
    );
}

#[test]
fn invalid_sizes_name_the_expected_format() {
    for (text, part) in [
        ("", "write it like 4KiB"),
        ("normal:mean=3", "lognormal:median=8KiB"),
        ("4KiX", "Ki, Mi, Gi"),
        ("5..", "500..10000"),
        ("9..3", "write 3..9"),
        ("2GiB", "at most 1GiB"),
        ("1..2GiB", "at most 1GiB"),
        ("lognormal:", "'' is not a parameter of lognormal"),
        ("lognormal:median=8KiB,sigma=1", "needs the parameter 'max'"),
        (
            "lognormal:median=8KiB,max=1MiB",
            "needs the parameter 'sigma'",
        ),
        ("lognormal:median=8KiB,sigma=x,max=1MiB", "sigma 'x'"),
        ("lognormal:median=8KiB,sigma=NaN,max=1MiB", "sigma 'NaN'"),
        ("lognormal:median=8KiB,sigma=0,max=1MiB", "above 0"),
        ("lognormal:median=8KiB,sigma=11,max=1MiB", "up to 10"),
        ("lognormal:median=0,sigma=1,max=1MiB", "invalid median 0"),
        (
            "lognormal:median=1,median=1,sigma=1,max=1MiB",
            "'median' occurs twice",
        ),
        (
            "exponential:mean=5,max=10,min=20",
            "the lower bound 20 is above the upper bound 10",
        ),
        (
            "exponential:mean=5,sigma=1,max=10",
            "'sigma=1' is not a parameter of exponential",
        ),
        ("histogram:", "'' is not a bin"),
        ("histogram:4KiB", "1KiB..8KiB=50"),
        ("histogram:4KiB=0", "weight of 1 or more"),
        ("histogram:4KiB=x", "'x' is not a number"),
        ("histogram:9..3=1", "write 3..9"),
        ("histogram:1=18446744073709551615,2=1", "weights below 2^64"),
    ] {
        let message = text.parse::<Sizes>().unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn histogram_files_are_parsed() {
    let text = "# sizes of a mail server\n\n0..1KiB 30\n1 KiB..8 KiB   50 # most\n64KiB\t20\n";
    assert_eq!(
        parse_histogram(text),
        "histogram:0..1KiB=30,1KiB..8KiB=50,64KiB=20".parse()
    );
    for (text, part) in [
        ("1 2\n\n3", "line 3: '3' is not a bin"),
        ("9..3 1", "line 1: the lower bound 9"),
        ("1 2\n1KiX 5", "line 2: unknown unit 'KiX'"),
        ("# none\n", "have the weight 0"),
    ] {
        let message = parse_histogram(text).unwrap_err().to_string();
        assert!(message.contains(part), "{text}: {message}");
    }
}

#[test]
fn bounds_and_means_of_sizes_match_draws() {
    let of = |text: &str| {
        let sizes: Sizes = text.parse().unwrap();
        (sizes.low(), sizes.high(), sizes.mean())
    };
    assert_eq!(of("7"), (7, 7, 7.0));
    assert_eq!(of("1..10"), (1, 10, 5.5));
    assert_eq!(of("histogram:0..2=1,5=3,9=0"), (0, 5, 4.0));
    let (low, high, mean) = of("exponential:mean=16KiB,max=1GiB,min=0");
    assert!(
        (low, high) == (0, 1 << 30) && (mean - 16_384.0).abs() < 1e-6,
        "{mean}"
    );
    let (_, _, mean) = of("lognormal:median=1000,sigma=1,max=1GiB,min=0");
    assert!((mean - 1_648.721_270_7).abs() < 1e-3, "{mean}");
    for text in [
        "exponential:mean=1000,max=1500,min=300",
        "lognormal:median=1000,sigma=0.8,max=2000,min=500",
        "lognormal:median=10,sigma=1,max=2000,min=500",
    ] {
        let sizes: Sizes = text.parse().unwrap();
        let sampler = sizes.sampler(1);
        let key = crate::random::Key::new(3, "test", 0);
        let sum: u64 = (0..400_000).map(|index| sampler.draw(key.at(index))).sum();
        let mean = sum as f64 / 400_000.0;
        assert!(
            (mean - sizes.mean()).abs() < 3.0,
            "{text}: {mean} {}",
            sizes.mean()
        );
    }
}
