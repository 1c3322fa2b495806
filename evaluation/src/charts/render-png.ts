import { fileURLToPath } from "node:url";
import { Resvg } from "@resvg/resvg-js";

const FONT_FILES = [
  import.meta.resolve("dejavu-fonts-ttf/ttf/DejaVuSans.ttf"),
  import.meta.resolve("dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf"),
].map((url) => fileURLToPath(url));
/** Sharp on screens with two dots for each pixel. */
const SCALE = 2;

/** The same picture everywhere: it is drawn with font files that come with npm, never with those of the machine. */
export function renderPng(svg: string): Uint8Array {
  const drawing = new Resvg(svg, {
    fitTo: { mode: "zoom", value: SCALE },
    font: { fontFiles: FONT_FILES, loadSystemFonts: false, defaultFontFamily: "DejaVu Sans" },
  });
  return drawing.render().asPng();
}
