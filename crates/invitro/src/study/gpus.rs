//! The GPUs of a task of a Slurm array: how many it asks for, and on which device it trains then.
//!
//! A task is one job on one node, so `--gpus 2` is written as `--gres=gpu:2`, which every Slurm with GPUs understands. Where a
//! site wants other options, they come with `--profile`, and are read there.

use anyhow::{Result, bail};
use invitro_model::Device;
use invitro_model::device::ALL;

/// GPUs as Slurm writes them: `2` or `a100:2`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gpus {
    kind: Option<String>,
    pub number: usize,
}

/// `2`, `a100:2`
pub fn parse_gpus(text: &str) -> Result<Gpus, String> {
    let wrong = || format!("`{text}` is no number of GPUs: write 1, 2 or, with their type, a100:2");
    let (kind, number) = text.rsplit_once(':').map_or((None, text), |(kind, number)| (Some(kind), number));
    let number: usize = number.parse().map_err(|_| wrong())?;
    let is_name =
        |name: &str| !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || "-_.".contains(char));
    if number == 0 || !kind.is_none_or(is_name) {
        return Err(wrong());
    }
    Ok(Gpus { kind: kind.map(str::to_owned), number })
}

impl Gpus {
    fn gres(&self) -> String {
        let kind = self.kind.as_ref().map(|kind| format!("{kind}:")).unwrap_or_default();
        format!("gpu:{kind}{}", self.number)
    }
}

/// The GPUs that a task requests, and the device it trains on.
#[derive(Debug, PartialEq, Eq)]
pub struct GpuRequest {
    pub gres: Option<String>,
    /// 0 for none.
    pub gpus: usize,
    /// As given to the task's `--device`.
    pub device: String,
}

/// The GPUs of a task by its options and the profile; one where the device is a GPU and nothing gives a number.
pub fn gpu_request(gpus: Option<&Gpus>, gres: Option<&str>, device: &str, profile: Option<&str>) -> Result<GpuRequest> {
    if device != ALL {
        // The nodes' devices are not known here, but a name that no machine has is wrong anywhere.
        Device::parse_list(device)?;
    }
    let elsewhere = gres.and_then(in_gres).or_else(|| profile.and_then(in_profile));
    let named = match (gpus, elsewhere) {
        (Some(_), Some(_)) => bail!("--gpus and --gres, or the profile, both ask for GPUs: give one of them"),
        (None, None) if device == ALL => bail!("--device cuda:all: say with --gpus how many GPUs a task has"),
        (None, None) if device.starts_with("cuda") => Some(Gpus { kind: None, number: 1 }),
        (gpus, _) => gpus.cloned(),
    };
    let gpus = named.as_ref().map(|gpus| gpus.number).or(elsewhere).unwrap_or(0);
    let gres = match named {
        Some(named) => Some(gres.map_or(named.gres(), |other| format!("{other},{}", named.gres()))),
        None => gres.map(str::to_owned),
    };
    if gpus > 0 && device == "cpu" {
        bail!("a task would have GPUs, and --device cpu would not use them: leave out one of the two");
    }
    let device = match (device, gpus) {
        ("auto", 1) => "cuda".into(),
        ("auto" | "cuda", 2..) => ALL.into(),
        _ => device.to_owned(),
    };
    Ok(GpuRequest { gres, gpus, device })
}

/// `gpu`, `gpu:2`, `gpu:a100:2`, each perhaps one of several between commas → how many.
fn in_gres(list: &str) -> Option<usize> {
    let gpus = list.split(',').filter_map(|one| match one.trim().split(':').collect::<Vec<_>>()[..] {
        ["gpu"] => Some(1),
        ["gpu", .., last] => Some(last.parse().unwrap_or(1)),
        _ => None,
    });
    gpus.reduce(|sum, number| sum + number)
}

/// The options of `sbatch` for GPUs among the lines of a profile.
fn in_profile(profile: &str) -> Option<usize> {
    let options = profile.lines().filter_map(|line| line.strip_prefix("#SBATCH"));
    let gpus = options.filter_map(|options| {
        let options = options.split('#').next().unwrap_or_default().trim();
        let (name, value) = options.split_once(['=', ' '])?;
        let value = value.trim().trim_matches('"');
        match name {
            "--gres" => in_gres(value),
            "--gpus" | "-G" | "--gpus-per-node" | "--gpus-per-task" => {
                Some(value.rsplit(':').next()?.parse().unwrap_or(1))
            }
            _ => None,
        }
    });
    gpus.max()
}
