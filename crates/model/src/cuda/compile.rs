//! Compiles the kernels for one model shape and one GPU. The machine code is cached in the process and in the user's cache
//! folder.

use super::gpu::{Doing, Gpu};
use super::kernels::{ATTENTION_KERNELS, FUSED_KERNELS, GPT2_KERNELS, Kernels, PROGRAM_KERNELS, Signature};
use super::recordings::between_recordings;
use super::sizes;
use crate::{Error, Layout, Result, Shape};
use cudarc::driver::CudaModule;
use cudarc::nvrtc::{Ptx, result as nvrtc, sys};
use invitro_base::settings::ModelKind;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::ScopedJoinHandle;

/// The kernels that every GPU runs.
pub const PROGRAM: &str = concat!(
    include_str!("common.cu"),
    include_str!("rows.cu"),
    include_str!("pointwise.cu"),
    include_str!("update.cu"),
    include_str!("inference.cu")
);
/// The attention kernels of every GPU.
pub const ATTENTION: &str = concat!(
    include_str!("common.cu"),
    include_str!("attention.cu"),
    include_str!("attention_warp.cu"),
    include_str!("attention_cached.cu")
);
/// The kernels that only GPT-2 needs.
pub const GPT2: &str = concat!(include_str!("common.cu"), include_str!("rows.cu"), include_str!("gpt2.cu"));
/// The kernels that only GPUs of compute capability 9.0 can run.
pub const FUSED: &str = concat!(
    include_str!("common.cu"),
    include_str!("hopper.cu"),
    include_str!("linear_swiglu.cu"),
    include_str!("linear_rms_norm.cu")
);

/// A source, its options, and the kernels in it.
struct Program {
    source: &'static str,
    options: Vec<String>,
    kernels: &'static [Signature],
}

impl Program {
    fn new(
        source: &'static str,
        kernels: &'static [Signature],
        mut options: Vec<String>,
        architecture: &str,
    ) -> Program {
        options.extend([format!("--gpu-architecture={architecture}"), "--std=c++17".into()]);
        Program { source, options, kernels }
    }
}

/// Whether matmuls of this shape can be fused with norms and activations.
pub fn can_fuse(gpu: &Gpu, shape: &Shape) -> bool {
    shape.kind == ModelKind::Llama
        && gpu.capability == (9, 0)
        && [128, 256].contains(&shape.width)
        && shape.hidden.is_multiple_of(sizes::CHUNK)
}

/// The programs for a shape on a GPU.
fn programs(gpu: &Gpu, shape: &Shape) -> Result<Vec<Program>> {
    let (major, minor) = gpu.capability;
    let (options, architecture) = (sizes::options(shape, &Layout::new(shape))?, format!("sm_{major}{minor}"));
    let mut programs = vec![
        Program::new(ATTENTION, ATTENTION_KERNELS, options.clone(), &architecture),
        Program::new(PROGRAM, PROGRAM_KERNELS, options.clone(), &architecture),
    ];
    if shape.kind == ModelKind::Gpt2 {
        programs.push(Program::new(GPT2, GPT2_KERNELS, options, &architecture));
    }
    if can_fuse(gpu, shape) {
        programs.push(Program::new(FUSED, FUSED_KERNELS, sizes::fused_options(shape), "sm_90a"));
    }
    Ok(programs)
}

/// Compiles the programs of a shape, unless cached.
pub fn prepare(gpu: &Gpu, shape: &Shape) -> Result<()> {
    images(&programs(gpu, shape)?).map(drop)
}

/// The kernels of a shape, loaded.
pub fn load(gpu: &Gpu, shape: &Shape) -> Result<Kernels> {
    let programs = programs(gpu, shape)?;
    let mut kernels = Kernels::default();
    for (program, image) in programs.iter().zip(images(&programs)?) {
        kernels.load(&module(gpu, program, &image)?, program.kernels)?;
    }
    Ok(kernels)
}

/// The machine code of programs, compiled in parallel.
fn images(programs: &[Program]) -> Result<Vec<Arc<Vec<u8>>>> {
    std::thread::scope(|scope| {
        let threads: Vec<_> = programs.iter().map(|program| scope.spawn(|| image(program))).collect();
        let join = |thread: ScopedJoinHandle<'_, Result<Arc<Vec<u8>>>>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    })
}

fn module(gpu: &Gpu, program: &Program, image: &[u8]) -> Result<Arc<CudaModule>> {
    let loaded = |image: &[u8]| {
        let _guard = between_recordings();
        gpu.context.load_module(Ptx::from_binary(image.to_vec()))
    };
    if let Ok(module) = loaded(image) {
        return Ok(module);
    }
    // The cached file may be damaged: compile again.
    let image = Arc::new(compile_and_cache(program)?);
    locked(&IMAGES).insert(file_name(program), Arc::new(Mutex::new(Some(image.clone()))));
    loaded(&image).doing("loading the kernels")
}

/// Machine code by file name. Concurrent requests wait for one compilation.
type Image = Arc<Mutex<Option<Arc<Vec<u8>>>>>;
static IMAGES: Mutex<BTreeMap<String, Image>> = Mutex::new(BTreeMap::new());

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn image(program: &Program) -> Result<Arc<Vec<u8>>> {
    let name = file_name(program);
    let entry = locked(&IMAGES).entry(name.clone()).or_default().clone();
    let mut known = locked(&entry);
    if let Some(image) = &*known {
        return Ok(image.clone());
    }
    let cached = cache_folder().and_then(|folder| std::fs::read(folder.join(name)).ok());
    let image = Arc::new(cached.map_or_else(|| compile_and_cache(program), Ok)?);
    *known = Some(image.clone());
    Ok(image)
}

fn compile_and_cache(program: &Program) -> Result<Vec<u8>> {
    let image = compile(program.source, &program.options)?;
    if let Some(folder) = cache_folder() {
        cache(&folder.join(file_name(program)), &image);
    }
    Ok(image)
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
        // SAFETY: the image has the size that NVRTC returned.
        let taken = sized.and_then(|_| unsafe { sys::nvrtcGetCUBIN(program, image.as_mut_ptr() as *mut _) }.result());
        taken.map(|_| image).map_err(|_| failed("gave no machine code"))
    });
    // SAFETY: made above, and not used any more.
    let _ = unsafe { nvrtc::destroy_program(program) };
    image
}

/// The cache folder.
fn cache_folder() -> Option<PathBuf> {
    let base = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let base = base.or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    Some(base.join("invitro"))
}

/// The file name of a program's machine code, a hash of the source, the options and the compiler version.
fn file_name(program: &Program) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let (mut major, mut minor) = (0, 0);
    if nvrtc_present() {
        // SAFETY: the library is there, and writes to live places.
        unsafe { sys::nvrtcVersion(&mut major, &mut minor) };
    }
    let version = format!("{major}.{minor}");
    for part in program.options.iter().map(String::as_str).chain([program.source, &version]) {
        for byte in part.bytes().chain([0]) {
            hash = (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("kernels-{hash:016x}.cubin")
}

/// Writes a temporary file and renames it. Errors are ignored: they only slow the next start.
fn cache(path: &Path, image: &[u8]) {
    let partial = path.with_extension(format!("{}.tmp", std::process::id()));
    let folder = path.parent().is_some_and(|folder| std::fs::create_dir_all(folder).is_ok());
    if folder && std::fs::write(&partial, image).and_then(|()| std::fs::rename(&partial, path)).is_err() {
        let _ = std::fs::remove_file(&partial);
    }
}
