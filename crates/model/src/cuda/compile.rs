//! Compiles the kernels for one model shape and one GPU, and caches the machine code beside other caches of the user.

use super::gpu::{Doing, Gpu};
use super::sizes;
use crate::{Error, Layout, Result, Shape};
use cudarc::driver::CudaModule;
use cudarc::nvrtc::{Ptx, result as nvrtc, sys};
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The kernels that every GPU runs.
pub const PROGRAM: &str = concat!(
    include_str!("common.cu"),
    include_str!("pointwise.cu"),
    include_str!("attention.cu"),
    include_str!("update.cu"),
    include_str!("inference.cu")
);
/// The kernels that only GPUs of compute capability 9.0 can run.
pub const FUSED: &str = concat!(
    include_str!("common.cu"),
    include_str!("hopper.cu"),
    include_str!("linear_swiglu.cu"),
    include_str!("linear_rms_norm.cu")
);

/// [`PROGRAM`] for a shape, loaded.
pub fn program(gpu: &Gpu, shape: &Shape, layout: &Layout) -> Result<Arc<CudaModule>> {
    let (major, minor) = gpu.capability;
    load(gpu, PROGRAM, sizes::options(shape, layout)?, &format!("sm_{major}{minor}"))
}

/// [`FUSED`] for a shape, loaded.
pub fn fused(gpu: &Gpu, shape: &Shape) -> Result<Arc<CudaModule>> {
    load(gpu, FUSED, sizes::fused_options(shape), "sm_90a")
}

fn load(gpu: &Gpu, source: &str, mut options: Vec<String>, architecture: &str) -> Result<Arc<CudaModule>> {
    options.extend([format!("--gpu-architecture={architecture}"), "--std=c++17".into()]);
    let path = cache_path(source, &options);
    let cached = path.as_ref().and_then(|path| std::fs::read(path).ok());
    // The cached file may be damaged: then it is made anew.
    if let Some(module) = cached.and_then(|image| gpu.context.load_module(Ptx::from_binary(image)).ok()) {
        return Ok(module);
    }
    let image = compile(source, &options)?;
    if let Some(path) = path {
        cache(&path, &image);
    }
    gpu.context.load_module(Ptx::from_binary(image)).doing("loading the kernels")
}

/// Whether NVRTC can be opened.
pub fn nvrtc_present() -> bool {
    // SAFETY: only tries to open the library.
    unsafe { sys::is_culib_present() }
}

/// The machine code of a source.
pub fn compile(source: &str, options: &[String]) -> Result<Vec<u8>> {
    let failed =
        |what: &str| Error::Device(format!("NVRTC {what}: is a CUDA 12 or newer toolkit's libnvrtc installed?"));
    if !nvrtc_present() {
        return Err(failed("was not found"));
    }
    let source = CString::new(source).expect("the kernels hold no zero byte");
    let program = nvrtc::create_program(&source, None).map_err(|_| failed("could not start"))?;
    // SAFETY: the program was just made and is destroyed once, below.
    let compiled = unsafe { nvrtc::compile_program(program, options) }.map_err(|_| {
        // SAFETY: as above.
        let log = unsafe { nvrtc::get_program_log(program) }.unwrap_or_default();
        let log: String = log.iter().take_while(|&&c| c != 0).map(|&c| c as u8 as char).collect();
        Error::Device(format!("the kernels did not compile for this GPU:\n{log}"))
    });
    let image = compiled.and_then(|()| {
        let mut size = 0;
        // SAFETY: the program is compiled; the size is written to a live place.
        let sized = unsafe { sys::nvrtcGetCUBINSize(program, &mut size) }.result();
        let mut image = vec![0u8; size];
        // SAFETY: the image has as many bytes as NVRTC asked for.
        let taken = sized.and_then(|_| unsafe { sys::nvrtcGetCUBIN(program, image.as_mut_ptr() as *mut _) }.result());
        taken.map(|_| image).map_err(|_| failed("gave no machine code"))
    });
    // SAFETY: made above, and not used any more.
    let _ = unsafe { nvrtc::destroy_program(program) };
    image
}

/// Where the machine code of a source with these options is cached: a name that changes with both.
fn cache_path(source: &str, options: &[String]) -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let (mut major, mut minor) = (0, 0);
    if nvrtc_present() {
        // SAFETY: the library is there, and writes to live places.
        unsafe { sys::nvrtcVersion(&mut major, &mut minor) };
    }
    let version = format!("{major}.{minor}");
    for part in options.iter().map(String::as_str).chain([source, &version]) {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Some(base.join("invitro").join(format!("kernels-{hash:016x}.cubin")))
}

/// Writes beside and renames; a cache that cannot be written only costs the next start a second.
fn cache(path: &Path, image: &[u8]) {
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let folder = path.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok());
    if folder && std::fs::write(&beside, image).and_then(|()| std::fs::rename(&beside, path)).is_err() {
        let _ = std::fs::remove_file(&beside);
    }
}
