//! Compiles the kernels for one model shape and one GPU, and keeps the machine code beside other caches of the user.

use super::{Gpu, device_error};
use crate::{Error, Layout, Result, Shape, layout::ALIGN};
use cudarc::driver::CudaModule;
use cudarc::nvrtc::{Ptx, result as nvrtc, sys};
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;

const SOURCE: &str = include_str!("kernels.cu");
const HOPPER: &str = concat!(include_str!("hopper.cu"), include_str!("rows.cu"));

/// The widest model whose norm's gradients have room beside each other in a block's 48 KiB.
const WIDEST: usize = 1536;

/// Loss groups a batch may have.
pub const GROUPS: usize = 16;

/// The kernels for a shape, loaded.
pub fn module(gpu: &Gpu, shape: &Shape, layout: &Layout) -> Result<Arc<CudaModule>> {
    load(gpu, SOURCE, &options(gpu, shape, layout)?)
}

/// The kernels that only GPUs of compute capability 9.0 can run.
pub fn hopper(gpu: &Gpu, shape: &Shape) -> Result<Arc<CudaModule>> {
    let eps = format!("-DEPS={:e}f", shape.norm_eps);
    let sizes = [format!("-DD={}", shape.width), format!("-DHIDDEN={}", shape.hidden), eps];
    load(gpu, HOPPER, &[&sizes[..], &["--gpu-architecture=sm_90a".into(), "--std=c++17".into()]].concat())
}

fn load(gpu: &Gpu, source: &str, options: &[String]) -> Result<Arc<CudaModule>> {
    let cached = cache_path(source, options);
    let kept = cached.as_ref().and_then(|path| std::fs::read(path).ok());
    // What was kept may be damaged: then it is made anew.
    if let Some(module) = kept.and_then(|image| gpu.context.load_module(Ptx::from_binary(image)).ok()) {
        return Ok(module);
    }
    let image = compile(source, options)?;
    if let Some(path) = cached {
        keep(&path, &image);
    }
    gpu.context.load_module(Ptx::from_binary(image)).map_err(|e| device_error("loading the kernels", e))
}

fn options(gpu: &Gpu, shape: &Shape, layout: &Layout) -> Result<Vec<String>> {
    let head = shape.head_width();
    if ![32, 64, 128].contains(&head) || !shape.hidden.is_multiple_of(8) {
        return Err(Error::Shape(format!(
            "width {} over {} heads with hidden {}: on CUDA a head is 32, 64 or 128 wide and hidden a multiple of 8",
            shape.width, shape.heads, shape.hidden
        )));
    }
    if shape.width > WIDEST {
        return Err(Error::Shape(format!("width {}: on CUDA it is at most {WIDEST}", shape.width)));
    }
    let gain_stride = shape.width.next_multiple_of(ALIGN);
    let mut options: Vec<String> = [
        ("D", shape.width),
        ("HEADS", shape.heads),
        ("HD", head),
        ("HIDDEN", shape.hidden),
        ("V", shape.vocab),
        ("CONTEXT", shape.context),
        ("SIZE", layout.size),
        ("DECAYED", layout.decayed),
        ("GROUPS", GROUPS),
        ("GAIN_STRIDE", gain_stride),
    ]
    .iter()
    .map(|(name, value)| format!("-D{name}={value}"))
    .collect();
    options.push(format!("-DEPS={:e}f", shape.norm_eps));
    options.push(format!("--gpu-architecture=sm_{}{}", gpu.capability.0, gpu.capability.1));
    options.push("--std=c++17".into());
    Ok(options)
}

fn compile(source: &str, options: &[String]) -> Result<Vec<u8>> {
    let failed =
        |what: &str| Error::Device(format!("NVRTC {what}: is a CUDA 12 or newer toolkit's libnvrtc installed?"));
    if !unsafe { sys::is_culib_present() } {
        return Err(failed("was not found"));
    }
    let source = CString::new(source).expect("the kernels hold no zero byte");
    let program = nvrtc::create_program(&source, None).map_err(|_| failed("could not start"))?;
    let image = unsafe {
        nvrtc::compile_program(program, options)
            .map_err(|_| {
                let log = nvrtc::get_program_log(program).unwrap_or_default();
                let log: String = log.iter().take_while(|&&c| c != 0).map(|&c| c as u8 as char).collect();
                Error::Device(format!("the kernels did not compile for this GPU:\n{log}"))
            })
            .and_then(|()| {
                let mut size = 0;
                sys::nvrtcGetCUBINSize(program, &mut size).result().map_err(|_| failed("gave no machine code"))?;
                let mut image = vec![0u8; size];
                sys::nvrtcGetCUBIN(program, image.as_mut_ptr() as *mut _)
                    .result()
                    .map_err(|_| failed("gave no machine code"))?;
                Ok(image)
            })
    };
    let _ = unsafe { nvrtc::destroy_program(program) };
    image
}

/// Where the machine code of a source with these options is kept: a name that changes with both.
fn cache_path(source: &str, options: &[String]) -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let (mut major, mut minor) = (0, 0);
    unsafe { sys::is_culib_present().then(|| sys::nvrtcVersion(&mut major, &mut minor)) };
    let version = format!("{major}.{minor}");
    for part in options.iter().map(String::as_str).chain([source, &version]) {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Some(base.join("invitro").join(format!("kernels-{hash:016x}.cubin")))
}

/// Writes beside and renames; a cache that cannot be written only costs the next start a second.
fn keep(path: &std::path::Path, image: &[u8]) {
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let folder = path.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok());
    if folder && std::fs::write(&beside, image).and_then(|()| std::fs::rename(&beside, path)).is_err() {
        let _ = std::fs::remove_file(&beside);
    }
}
