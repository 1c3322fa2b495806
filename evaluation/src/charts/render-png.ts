import { fileURLToPath } from "node:url";
import { Resvg } from "@resvg/resvg-js";

const FONTS = ["DejaVuSans.ttf", "DejaVuSans-Bold.ttf"];
/** Sharp on screens with two dots for each pixel. */
const SCALE = 2;

/** The same picture everywhere: it is drawn with font files that come with npm, never with those of the machine. */
export function renderPng(svg: string): Uint8Array {
  const fontFiles = FONTS.map((file) => fileURLToPath(import.meta.resolve(`dejavu-fonts-ttf/ttf/${file}`)));
  const drawing = new Resvg(svg, {
    fitTo: { mode: "zoom", value: SCALE },
    font: { fontFiles, loadSystemFonts: false, defaultFontFamily: "DejaVu Sans" },
  });
  return drawing.render().asPng();
}
