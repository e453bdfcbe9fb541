//! Options that contradict one another, the engine or the machine. The run is refused with exit
//! status 2 before it changes anything. The message contains the option and a remedy.

use crate::safety::wrong_words::Place;
use crate::support::test_dir::write;

/// Commands, each with texts that its error message must contain.
const CONTRADICTIONS: &str = "
    # Who works.
    run --workers 2 --readers 3 | --workers 2 and --readers 3 | share | --writers and --readers
    run --workers 2 --writers 0 | --workers 2 and --writers 0
    run --workers 0 | number of workers 0 | 1 to 4096
    run --workers 4097 | invalid value '4097' for --workers | 1 to 4096
    run --workers 99999999999 | '99999999999' for --workers | 1 to 4096
    run --writers 4000 --readers 4000 | workers 8000 | 1 to 4096
    run --writers 99999999999 | '99999999999' for --writers
    run --writers 0 --readers 0 | workers 0
    run --readers 2 --mix create=1,delete=1 | readers | like read=1 | --readers 0
    run --writers 2 --mix read=1,stat=1 | writers | like create=1 | --writers 0
    run --worker-seeds random | --worker-seeds | same | offset
    run --writers 2 --keep | --keep | shared | requires --transactions 0 | --workers
    run --preset mdtest-hard --keep | --keep | requires --transactions 0
    # How large the pool is.
    run --working-set 2x --files 10 | --working-set 2x and --files 10 | cannot be combined
    run --preset git --scale 4 --files 10 | --scale 4 | --files or --working-set
    run --preset git --scale 4 --working-set 2x | --scale 4 | they set the number of files
    run --preset git --scale 0 | --scale | like 4
    run --preset git --scale 9999999999999999 | --scale | like 4
    run --working-set 2x --reuse | --working-set 2x and --reuse | cannot be combined
    run --working-set 0x | --working-set 0x | like 4x
    run --working-set 0GiB | --working-set 0 | like 4x
    run --working-set -1x | --working-set -1x | like 4
    run --working-set nanx | --working-set NaNx | like 4
    run --working-set 1e9x | --working-set 1000000000x | up to 1000
    run --working-set four | --working-set | four
    run --engine null --working-set 2x | --working-set | null | --engine posix
    run --mix read=1 --size 0 --working-set 2x | --working-set 2x | are empty | --size
    run --mix read=1 --entries-max 600 --working-set 0.5x | --working-set 0.5x | Chose
        | at most 600 entries
    plan --working-set 2x --files 10 | --working-set 2x and --files 10
    # What only mixes have.
    run --append-size 4KiB | --append-size | add --mix
    run --range-size 4KiB | --range-size | add --mix
    run --size-max 4KiB | --size-max | add --mix
    run --popularity zipf:0.99 | --popularity | add --mix
    run --entries-max 5 | --entries-max | add --mix
    run --tree-levels 1 | --tree-levels | add --mix
    run --mix read=1 --dirs 5 --tree-levels 1 | --tree-levels requires | copy-tree=1
    run --mix copy-tree=1 --tree-levels 1 | '1' for --tree-levels | at most 0 | --dirs flat
    run --mix copy-tree=1 --dirs tree:3x2 --tree-levels 3 | '3' for --tree-levels | at most 2
    run --names maildir | --names | add --mix
    run --think 1ms | --think | add --mix | read=5,append=5,create=5,delete=5
    run --compute read=1us | --compute | add --mix
    run --align 4KiB | --align | add --mix
    run --dirs tree:5x2 | --dirs tree:5x2 | --dirs N | add --mix
    run --size exponential:mean=1KiB,max=1MiB | --size | LOW..HIGH | add --mix
    run --size histogram@nowhere | --size | LOW..HIGH | add --mix
    run --direct | --direct | 4096 | add --mix
    run --workers 2 --think 1ms | --think | add --mix
    run --preset paper-1000-50000 --think 1ms | --think | add --mix
    # What only the classic work has.
    run --mix read=1 --compat 1.0 | --compat 1.0 | only the classic workload
    run --mix read=1 --bias-read 7 | --bias-read 7 | --mix
    run --mix read=1 --bias-create 7 | --bias-create 7 | --mix
    run --preset mail --compat 1.5 | --compat 1.5 | only the classic workload
    run --preset mail --bias-read 5 | --bias-read 5 | --mix
    run --writers 1 --compat 1.0 | --compat 1.0 | only the classic workload
    run --writers 1 --bias-read 11 | bias 11 | 0 to 10
    run --mix read=1 --format classic | --format classic | text or json
    run --for 0s | '0s' for --for | 2m
    run --rate 0 | --rate | above 0
    run --rate -5 | --rate | above 0
    run --rate abc | 'abc' | 2k
    run --rate 1e10 | --rate | 1000000000
    run --arrivals poisson | --arrivals poisson requires --rate
    run --arrivals never --rate 1 | 'never' | poisson
    run --mix read=1 --think 1ms --rate 5 | --rate and --think
    run --for 1s --format classic | --format classic | text or json
    run --format terse | --format terse | --for | --compat 1.5
    run --mix read=1 --sweep auto --slo deliver.p99<5ms | deliver.p99<5ms | create, read
    # Sweeps and steady states.
    run --sweep 100,200 --rate 5 | --rate 5 and --sweep 100,200 | cannot be combined
    run --sweep 200,100 | 100 follows 200 | expected auto
    run --sweep up | 'up' is not a number | expected auto
    run --sweep 1..9 | the number of load levels | expected auto
    run --sweep 1,2000000000 | --sweep | 1000000000
    run --sweep 10,20 --for 2s | '2s' for --for | 10s
    run --sweep 1..1000:64 --for 1h | --sweep | 100000 entries | shorter levels | --no-series
    run --sweep 10,20 --transactions 50 | --transactions 50 and --sweep | --for
    run --sweep 10,20 --steady snia | --steady and --round cannot be combined with --sweep
        | --warm-up
    run --mix read=1 --sweep 10,20 --think 1ms | --sweep and --think
    run --sweep workers=1,2 --workers 3 | --workers cannot be combined with --sweep workers=
        | the sweep sets the workers
    run --sweep workers=1,2 --arrivals poisson | --arrivals cannot be combined with --sweep workers=
    run --sweep workers=1,9999 | workers=9999 | 1 to 4096
    run --preset ai-samples --sweep workers=1,2 | --sweep workers= | shared pool | sweep rates
    run --sweep 10,20 --fresh --keep | --keep and --reuse | remove --fresh
    run --sweep 10,20 --ack-log /proc/x | --ack-log and --sweep | cannot be combined
    run --sweep workers=1,2 --working-set 2x
        | --working-set cannot be combined with --sweep workers=
    run --sweep auto --slo p99<5ms --no-latencies | --slo and --no-latencies
    run --steady snia --round 1s --for 10h | --for 10h | at most 1000 are | --round
    run --fresh | --fresh requires --sweep | --sweep auto
    run --slo p99<5ms | --slo requires --sweep | --sweep auto
    run --sweep auto --slo 5ms | '5ms' | p99<10ms
    run --sweep auto --format classic | --format classic | text or json
    run --steady soon | soon | snia | slope
    run --steady snia --round 10ms | '10ms' for --round | at least 1s
    run --steady slope --round 2s | --round 2s is too short for --steady slope | --round 5s
    run --steady snia --for 30s | --for 30s is too short for --steady snia | --for 50s
    run --round 5s | --round requires --steady | --steady snia
    run --steady snia --format terse | --format terse | text or json
    run --live - | --live - | --output
    run --live - --output - | --live - | --output
    run --live x --no-latencies | --live and --no-latencies
    run --live x --no-series | --live and --no-series
    run --mix read=1 --format terse | --format terse | text or json
    run --seed 4294967296 | '4294967296' for --seed | 4294967295
    # Mixes that are none.
    run --mix read=0 | all operations have the weight 0 | read=1
    run --mix , | all operations have the weight 0
    run --mix read | 'read' is not an operation with its weight | read=5
    run --mix read=x | 'read=x' is not an operation with its weight
    run --mix fly=3 | unknown operation 'fly' | deliver
    run --mix read=1,read=2 | read occurs twice
    run --preset mail --mix read=0 | all operations have the weight 0
    run --writers 1 --bias-read -1 --bias-create -1 | all operations have the weight 0
    run --mix read=1 --files 0 | files 0
    # Sizes.
    run --mix read=1 --size 10..5 | '10..5' for --size | write 5..10
    run --mix read=1 --size 2GiB | --size | at most 1GiB
    run --mix read=1 --size lognormal:median=8KiB | --size | 'sigma'
    run --mix read=1 --size histogram:1KiB | --size | '1KiB' is not a bin
    run --mix read=1 --size histogram:1KiB=0 | --size | weight of 1 or more
    run --mix read=1 --range-size 9..3 | '9..3' for --range-size
    run --mix append=1 --append-size 9..3 | '9..3' for --append-size
    run --mix append=1 --size 4KiB | --size-max 4096 | larger --size-max
    run --mix read=1 --size 20k --size-max 10k | '10000' for --size-max | 20000
    run --mix read=1 --size-max 2GiB | --size-max | 1GiB
    run --mix read=1 --align 0 | '0' for --align
    run --mix read=1 --read-block 0 | read block
    run --mix read=1 --direct --align 512 | '512' for --align | multiple of 4096
    run --mix read=1 --direct --read-block 512 | '512' for --read-block | multiple of 4096
    # Popularity, directories, names, contents, times.
    run --mix read=1 --popularity zipf:-1 | --popularity | zipf
    run --mix read=1 --popularity often | --popularity | hot:10%/90%
    run --mix read=1 --dirs tree:3 | --dirs | tree:10x3
    run --mix read=1 --dirs 0 | at least 1 directory
    run --mix read=1 --dirs 5000000000 | 5000000000
    run --mix read=1 --entries-max 10 --files 100 | at most 10 entries | more directories
    run --mix read=1 --entries-max 0 | at least 1
    run --mix read=1 --names padded:0 | --names | 1 to 200
    run --mix read=1 --compute read=1 | --compute | no unit of time
    run --mix read=1 --compute read=-1us | --compute | '-1us'
    run --mix read=1 --compute read=1h | --compute | from 1ns to 10s
    run --mix read=1 --compute parse=1us | --compute | unknown operation 'parse'
    run --mix read=1 --compute deliver=1us | --compute deliver=... | the mix has no deliver
    run --mix read=1 --think 1 | --think | no unit of time | 10ms
    run --contents zeros | --contents | incompressible
    run --contents text --dedup 2 | ratio of 2 cannot be used with text | incompressible
    run --mix read=1 --dedup 0.5 | ratio 0.5 | expected 1
    # How it is done.
    run --durability paper | --durability | fsync+dir
    run --durability batch:0 | --durability | at least 1
    run --durability o-sync | stdio | o-sync | --engine posix
    run --mix overwrite=1 --engine stdio | stdio | 'overwrite' | --engine posix
    run --mix read=1 --direct --engine raw | raw | direct | --engine posix
    run --cache hot | --cache | cold-data
    run --verify | verify | --contents incompressible
    run --mix read=1 --contents text --verify | verify | --contents incompressible
    run --on-error 200% | --on-error | 1%
    run --on-error sometimes | --on-error | stop
    run --stall-timeout 5 | --stall-timeout | no unit of time
    run --stall-timeout 0 | '0s' for --stall-timeout | 60s
    run --calls --no-latencies | --calls | --no-latencies | cannot be combined
    run --pin=maybe | --pin | maybe
    run --reuse | no kept pool | --keep
    run --engine null --keep | --keep | null | --engine posix
    run --engine null --reuse | --reuse | null
    run --engine null --ack-log j | --ack-log | null
    run --engine null --cache warm | --cache | null
    run --engine null --verify --contents incompressible | --verify | null | --engine posix
    run --ack-log nowhere/ack_log | nowhere/ack_log
    # The same for plans, and what is said of acknowledgement logs.
    plan --workers 2 --readers 3 | --workers 2 and --readers 3
    plan --mix read=0 | all operations have the weight 0
    verify-log . | --ack-log
    verify-log . --ack-log nowhere | nowhere | --ack-log
    verify-log . --ack-log notes.txt | not an acknowledgement log | --ack-log
";

#[test]
fn contradictory_options_are_refused() {
    Place::new().refuses_all(CONTRADICTIONS);
}

#[test]
fn message_about_an_invalid_histogram_has_file_and_line() {
    let place = Place::new();
    let path = place.test_dir.path().join("histogram.txt");
    for (text, told) in [
        ("0..1KiB 30\n1KiB..8KiB many\n", "line 2: 'many'"),
        ("# sizes\n\n8KiB..1KiB 5\n", "line 3: the lower bound 8192"),
        ("1KiB\n", "line 1: '1KiB' is not a bin"),
        ("1KiB 0\n", "weight of 1 or more"),
        ("", "weight of 1 or more"),
    ] {
        write(&path, text, 0o644);
        for option in ["--size", "--append-size", "--range-size"] {
            let ended = place.say(&format!(
                "run --mix read=1 {option} histogram@../histogram.txt"
            ));
            ended
                .code(2)
                .shows(&format!("'histogram@../histogram.txt' for {option}"))
                .shows(told);
        }
    }
    place
        .say("run --mix read=1 --size histogram@../nowhere.txt")
        .code(2)
        .shows("'histogram@../nowhere.txt' for --size")
        .shows("cannot read the file");
    write(&path, "100..200 1 # small\n4KiB 1\n", 0o644);
    let words = "plan --mix read=1 --size histogram@../histogram.txt --format toml";
    place
        .say(words)
        .code(0)
        .shows("size = \"histogram:100..200=1,4KiB=1\"");
}

const CONTRADICTORY_FILES: &str = r#"
    mix = "read=0"\n | line 1 | all operations have the weight 0
    files = 1\nmix = "fly=1"\n | line 2 | unknown operation 'fly'
    workers = 2\nreaders = 1\n | --workers 2 and --readers 1
    working-set = '2x'\nfiles = 1\n | --working-set 2x and --files 1
    popularity = "zipf:0.9"\n | --popularity | add --mix
    size = "huge"\n | line 1 | huge
    on-error = -1\n | line 1 | negative
    stall-timeout = 60\n | line 1
    verify = "yes"\n | line 1 | yes
    cache = "hot"\n | line 1 | hot
    mix = "read=1"\nsize-maximum = 5\n | line 2 | size-maximum
    [[target]]\npath = ""\n | [[target]] | the path is empty | working directory
"#;

#[test]
fn contradictory_configuration_files_are_refused() {
    let place = Place::new();
    place.refuses_all_files(CONTRADICTORY_FILES, "postmark: ");
    // An option overrides the value in the file, so the contradiction is resolved.
    let plan = "plan --config ../config.toml --format toml";
    place.configure("working-set = '2x'\n");
    let ended = place.say(plan);
    ended
        .code(0)
        .shows("working-set = \"2x\"\n")
        .does_not_show("files");
    let ended = place.say(&format!("{plan} --files 7"));
    ended
        .code(0)
        .shows("files = 7\n")
        .does_not_show("working-set");
    place.configure("readers = 1\nwriters = 1\n");
    let ended = place.say(&format!("{plan} --workers 3"));
    ended.code(0).shows("workers = 3").does_not_show("readers");
}
