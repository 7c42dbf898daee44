//! Runs one command of test/foreign/program.ts with gix, which has no push.
use std::error::Error;
use std::num::NonZeroU32;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use gix::progress::Discard;
use gix::remote::fetch::Shallow;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let ended = match args[0].as_str() {
        "clone" => clone(&args[1], &args[2], &args[3]),
        "deepen" => fetch(&args[1], Some(&args[2])),
        "pull" => pull(&args[1]),
        "push" => {
            eprintln!("gix has no push");
            return ExitCode::from(3);
        }
        other => Err(format!("unknown command {other}").into()),
    };
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:?}");
            ExitCode::FAILURE
        }
    }
}

fn cut(depth: &str) -> Result<Shallow> {
    let depth: u32 = depth.parse()?;
    Ok(NonZeroU32::new(depth).map_or(Shallow::NoChange, Shallow::DepthAtRemote))
}

fn clone(url: &str, dir: &str, depth: &str) -> Result<()> {
    let mut prepared = gix::prepare_clone(url, dir)?
        .with_shallow(cut(depth)?)
        .configure_remote(|remote| Ok(remote.with_fetch_tags(gix::remote::fetch::Tags::All)));
    let (mut checkout, _) = prepared.fetch_then_checkout(Discard, &GO_ON)?;
    checkout.main_worktree(Discard, &GO_ON)?;
    Ok(())
}

fn fetch(dir: &str, depth: Option<&str>) -> Result<()> {
    let repository = gix::open(dir)?;
    let remote = repository.find_remote("origin")?;
    let prepared = remote
        .connect(gix::remote::Direction::Fetch)?
        .prepare_fetch(Discard, Default::default())?;
    let shallow = depth.map_or(Ok(Shallow::NoChange), cut)?;
    prepared.with_shallow(shallow).receive(Discard, &GO_ON)?;
    Ok(())
}

/// Fetches, and moves `main` to the remote's commit, without updating the files.
fn pull(dir: &str) -> Result<()> {
    fetch(dir, None)?;
    let repository = gix::open(dir)?;
    let tip = repository.find_reference("refs/remotes/origin/main")?.id();
    repository.reference("refs/heads/main", tip, gix::refs::transaction::PreviousValue::Any, "pull")?;
    Ok(())
}
