//! An image with a palette as PNG (ISO/IEC 15948: indexed, 8 bits per pixel), and as a data URL.

use std::io::Write;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

pub(crate) struct Indexed {
    pub width: u32,
    /// Palette indices, row by row from the top.
    pub pixels: Vec<u8>,
    /// Red, green and blue. The first colour is transparent.
    pub palette: Vec<[u8; 3]>,
}

impl Indexed {
    /// The contents of the PNG file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let width = self.width as usize;
        let rows = self.pixels.len().checked_div(width).unwrap_or(0);
        let mut header = Vec::new();
        header.extend(self.width.to_be_bytes());
        header.extend((rows as u32).to_be_bytes());
        // Bit depth 8, colour type 3 (indexed), and method 0 of compression, filter and interlace.
        // Method 0 of interlace means that the image is not interlaced.
        header.extend([8, 3, 0, 0, 0]);
        let mut lines = Vec::with_capacity(self.pixels.len() + rows);
        for row in self.pixels.chunks_exact(width.max(1)) {
            lines.push(0);
            lines.extend(row);
        }
        let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
        chunk(&mut file, b"IHDR", &header);
        chunk(&mut file, b"PLTE", self.palette.as_flattened());
        chunk(&mut file, b"tRNS", &[0]);
        chunk(&mut file, b"IDAT", &packed(&lines));
        chunk(&mut file, b"IEND", &[]);
        file
    }

    pub(crate) fn address(&self) -> String {
        format!(
            "data:image/png;base64,{}",
            BASE64_STANDARD.encode(self.bytes())
        )
    }
}

fn packed(lines: &[u8]) -> Vec<u8> {
    let mut packer = ZlibEncoder::new(Vec::new(), Compression::best());
    // Writing to memory cannot fail.
    let _ = packer.write_all(lines);
    packer.finish().unwrap_or_default()
}

fn chunk(file: &mut Vec<u8>, kind: &[u8; 4], data: &[u8]) {
    let mut sum = Crc::new();
    sum.update(kind);
    sum.update(data);
    file.extend((data.len() as u32).to_be_bytes());
    file.extend(kind);
    file.extend(data);
    file.extend(sum.sum().to_be_bytes());
}
