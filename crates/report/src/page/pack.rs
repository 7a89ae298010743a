//! Data inside the page, small: deflated and written in base64, which the page's script unpacks when it is asked for.
//!
//! Drawings and tables repeat themselves: a page of 864 runs is a tenth of its size this way.

use miniz_oxide::deflate::compress_to_vec_zlib;

/// The middle level: the highest takes three times as long and makes pages two hundredths smaller.
const LEVEL: u8 = 6;

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// An element that holds the text for `unpack` of the page's script. No text can end it: base64 has no `<`.
pub fn pack(attribute: &str, text: &str) -> String {
    let data = base64(&compress_to_vec_zlib(text.as_bytes(), LEVEL));
    format!("<script type=\"text/plain\" {attribute}>{data}</script>")
}

/// As in RFC 4648, padded.
pub fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let part = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let number = part(0) << 16 | part(1) << 8 | part(2);
        for place in 0..4 {
            let digit = DIGITS[(number >> (18 - 6 * place)) as usize & 63];
            out.push(if place > three.len() { '=' } else { digit as char });
        }
    }
    out
}
