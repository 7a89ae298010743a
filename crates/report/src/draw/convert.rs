//! SVG files as PNG and as PDF, with fonts of our own: what comes out is the same on a machine that has none.
//!
//! The fonts are the letters that figures use of Liberation Sans (as wide as Helvetica and Arial) and Mono, and of Noto for
//! the scripts that these do not have; see `fonts/LICENSE-OFL`. They have β̂ as a letter of its own, since `usvg` loses accents that are drawn apart where faces
//! change within a text. In a PDF text stays text, which can be searched and copied.

use super::ordered::ordered;
use invitro_base::catch_panic;
use resvg::tiny_skia::{Color, Pixmap, Transform};
use resvg::usvg::{self, fontdb::Database};
use std::fmt::Display;
use std::io;
use std::str::FromStr;
use std::sync::{Arc, LazyLock};
use svg2pdf::{ConversionOptions, PageOptions};

/// What a figure's file is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ImageFormat {
    Svg,
    Pdf,
    Png,
}

impl ImageFormat {
    pub const ALL: [ImageFormat; 3] = [ImageFormat::Svg, ImageFormat::Pdf, ImageFormat::Png];

    /// Its name, and how its files end.
    pub fn name(self) -> &'static str {
        match self {
            ImageFormat::Svg => "svg",
            ImageFormat::Pdf => "pdf",
            ImageFormat::Png => "png",
        }
    }

    /// The bytes of a file of this format that shows what the SVG file does, at the same size on paper.
    pub fn convert(self, svg: String) -> io::Result<Vec<u8>> {
        match self {
            ImageFormat::Svg => Ok(svg.into_bytes()),
            // The library may panic over what it cannot lay out.
            ImageFormat::Pdf => catch_panic(|| to_pdf(&read(&svg)?)).map_err(unwritten)?,
            ImageFormat::Png => catch_panic(|| to_png(&read(&svg)?)).map_err(unwritten)?,
        }
    }
}

impl FromStr for ImageFormat {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let known = ImageFormat::ALL.into_iter().find(|format| format.name() == name);
        known.ok_or_else(|| format!("there is {}", ImageFormat::ALL.map(ImageFormat::name).join(", ")))
    }
}

/// Dots to the inch of a PNG, as journals ask for.
const DPI: f32 = 300.0;

/// CSS has so many pixels to the inch.
const PIXELS: f32 = 96.0;

/// The name of our font. Liberation is a name its licence reserves.
const FAMILY: &str = "Invitro Sans";

static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    for face in [
        include_bytes!("fonts/InvitroSans-Regular.ttf").as_slice(),
        include_bytes!("fonts/InvitroSans-Bold.ttf"),
        include_bytes!("fonts/InvitroSans-Italic.ttf"),
        include_bytes!("fonts/InvitroSans-BoldItalic.ttf"),
        include_bytes!("fonts/InvitroMono-Regular.ttf"),
        include_bytes!("fonts/InvitroScripts-Regular.ttf"),
    ] {
        fonts.load_font_data(face.to_vec());
    }
    fonts.set_sans_serif_family(FAMILY);
    fonts.set_monospace_family("Invitro Mono");
    Arc::new(fonts)
});

fn read(svg: &str) -> io::Result<usvg::Tree> {
    let options =
        usvg::Options { dpi: PIXELS, font_family: FAMILY.into(), fontdb: Arc::clone(&FONTS), ..Default::default() };
    usvg::Tree::from_str(svg, &options).map_err(unwritten)
}

fn to_pdf(tree: &usvg::Tree) -> io::Result<Vec<u8>> {
    let pdf = svg2pdf::to_pdf(tree, ConversionOptions::default(), PageOptions { dpi: PIXELS }).map_err(unwritten)?;
    ordered(&pdf).ok_or_else(|| unwritten("the PDF is not as it was expected"))
}

fn to_png(tree: &usvg::Tree) -> io::Result<Vec<u8>> {
    let scale = DPI / PIXELS;
    let pixels = |length: f32| (length * scale).round().max(1.0) as u32;
    let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
    let mut drawn = Pixmap::new(width, height).ok_or_else(|| unwritten("it is too large"))?;
    drawn.fill(Color::WHITE);
    resvg::render(tree, Transform::from_scale(scale, scale), &mut drawn.as_mut());
    // Nothing shows through white.
    let colours: Vec<u8> = drawn.data().chunks_exact(4).flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let to_the_metre = (DPI / 0.0254).round() as u32;
    let size = png::PixelDimensions { xppu: to_the_metre, yppu: to_the_metre, unit: png::Unit::Meter };
    encoder.set_pixel_dims(Some(size));
    encoder.write_header().and_then(|mut writer| writer.write_image_data(&colours)).map_err(unwritten)?;
    Ok(file)
}

fn unwritten(why: impl Display) -> io::Error {
    io::Error::other(format!("it cannot be converted: {why}"))
}
