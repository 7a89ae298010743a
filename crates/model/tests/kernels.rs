//! Checks of the CUDA kernels without a GPU: arguments, sizes, compilation, numbers.

use invitro_model::cuda::bf16::{join, split};
use invitro_model::cuda::compile::{ATTENTION, FUSED, GPT2, PROGRAM, compile, nvrtc_present};
use invitro_model::cuda::kernels::{ATTENTION_KERNELS, FUSED_KERNELS, GPT2_KERNELS, PROGRAM_KERNELS};
use invitro_model::cuda::sizes;
use invitro_model::ops::GROUPS;
use invitro_model::{Layout, ModelKind, Shape};
use rayon::prelude::*;

/// The C parameters of a kernel, without names and qualifiers.
fn parameters(source: &str, name: &str) -> Vec<String> {
    let mut source = source.replace("\\\n", " ");
    // The variants of a kernel name their common parameters by a macro.
    while let Some(at) = source.find("_ARGS ").and_then(|at| source[..at].rfind("#define ")) {
        let line = source[at..].lines().next().unwrap().to_string();
        let (macro_name, value) = line["#define ".len()..].split_once(' ').unwrap();
        source = source.replace(&line, "").replace(macro_name, value);
    }
    let at = source.find(&format!(" {name}(")).unwrap_or_else(|| panic!("no kernel {name}")) + name.len() + 2;
    let list = &source[at..at + source[at..].find(')').unwrap()];
    let kind = |parameter: &str| {
        let words = ["const", "__restrict__", "__grid_constant__", "*__restrict__"];
        let pointer = parameter.contains('*');
        let word = parameter.split_whitespace().find(|word| !words.contains(word)).unwrap().to_string();
        if pointer { word + "*" } else { word }
    };
    list.split(',').map(kind).collect()
}

#[test]
fn arguments_are_the_kernels_own() {
    let c = |kind: &str| match kind {
        "i32" => "int",
        "u32" => "u32",
        "u64" => "u64",
        "f32" => "float",
        "Map" => "Map",
        "Ptr<Bf16>" | "Ptr<u16>" => "u16*",
        "Ptr<f32>" => "float*",
        "Ptr<u32>" => "u32*",
        "Ptr<i32>" => "int*",
        "Ptr<u8>" => "unsigned*",
        "Ptr<FlatSpan>" | "Ptr<[u32; 2]>" => "uint2*",
        "Ptr<Overflow>" => "uint4*",
        "Ptr<[f32; 2]>" => "float2*",
        "Ptr<UpdateNumbers>" => "Update*",
        "Ptr<CachedSpan>" => "CachedSpan*",
        other => panic!("{other}"),
    };
    let programs =
        [(PROGRAM, PROGRAM_KERNELS), (GPT2, GPT2_KERNELS), (ATTENTION, ATTENTION_KERNELS), (FUSED, FUSED_KERNELS)];
    for (source, signatures) in programs {
        let mut count = 0;
        for &(names, kinds) in signatures {
            for name in names {
                let ours: Vec<&str> = kinds.iter().map(|kind| c(kind)).collect();
                assert_eq!(parameters(source, name), ours, "{name}");
                count += 1;
            }
        }
        assert_eq!(source.matches("extern \"C\" __global__").count(), count, "all kernels are declared");
    }
}

#[test]
fn no_shared_size_is_spelled_in_the_kernels() {
    let shape = Shape::paper(2048);
    let options = sizes::options(&shape, &Layout::new(&shape)).unwrap();
    assert!(options.contains(&format!("-DGROUPS={GROUPS}")));
    let every = [PROGRAM, GPT2, ATTENTION].concat();
    for (source, options) in [(every.as_str(), options), (FUSED, sizes::fused_options(&shape))] {
        for option in &options {
            let name = option.trim_start_matches("-D").split('=').next().unwrap();
            assert!(!source.contains(&format!("#define {name} ")), "{name} is defined twice");
            assert!(source.contains(name), "{name} is not used");
        }
    }
}

/// NVRTC compiles for any GPU and needs none. Continuous integration installs it, and fails here without it.
#[test]
fn all_kernels_compile_for_every_supported_gpu() {
    if !nvrtc_present() {
        assert!(std::env::var_os("CI").is_none(), "NVRTC was not found: no kernel was compiled");
        return;
    }
    let narrow = Shape { width: 128, heads: 4, hidden: 192, ..Shape::paper(8190) };
    let gpt2 = Shape { kind: ModelKind::Gpt2, tied: true, ..Shape::paper(2048) };
    let wide_gpt2 = Shape { width: 1536, heads: 12, hidden: 6144, ..gpt2.clone() };
    let all = &["80", "86", "89", "90", "100", "120"][..];
    for (shape, architectures) in
        [(Shape::paper(2048), all), (narrow, &["80", "90"]), (gpt2, &["80", "90", "120"]), (wide_gpt2, &["90"])]
    {
        let options = sizes::options(&shape, &Layout::new(&shape)).unwrap();
        let fused = (FUSED, sizes::fused_options(&shape), "90a");
        let (sources, fused) = match shape.kind {
            ModelKind::Llama => (&[PROGRAM, ATTENTION][..], Some(fused)),
            ModelKind::Gpt2 => (&[PROGRAM, GPT2, ATTENTION][..], None),
        };
        let everywhere = architectures.iter().flat_map(|&architecture| {
            sources.iter().map(|&source| (source, options.clone(), architecture)).collect::<Vec<_>>()
        });
        everywhere.chain(fused).collect::<Vec<_>>().par_iter().for_each(|(source, options, architecture)| {
            let target = [format!("--gpu-architecture=sm_{architecture}"), "--std=c++17".into()];
            compile(source, &[&options[..], &target].concat()).unwrap();
        });
    }
}

#[test]
fn a_weight_survives_the_split_and_its_bf16_is_the_nearest() {
    for value in [0.0, -0.0, 1.0, -1.000_061, 3.4e38, -7e-39, f32::INFINITY, f32::MIN_POSITIVE, 0.1, -123.456] {
        let (bf16, residual_bits) = split(value);
        assert_eq!(join(bf16, residual_bits).to_bits(), value.to_bits(), "{value}");
        let near = bf16.f32();
        assert!(near == value || (near - value).abs() <= value.abs() / 256.0 || near.is_infinite(), "{value}: {near}");
    }
}

#[test]
fn nan_is_nan_in_bf16_too() {
    for bits in [0x7fff_ffff, 0xffff_ffff, 0x7f80_0001, 0x7fc0_0000] {
        let (bf16, residual_bits) = split(f32::from_bits(bits));
        assert!(bf16.f32().is_nan() && join(bf16, residual_bits).is_nan(), "{bits:x}");
    }
}
