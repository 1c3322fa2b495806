/** A piece of SVG that is well formed already. */
export type Svg = string;

export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  children: readonly Svg[] = [],
): Svg {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(
      ([key, value]) => ` ${key}="${escapeText(typeof value === "number" ? short(value) : String(value))}"`,
    )
    .join("");
  return children.length === 0 ? `<${name}${written}/>` : `<${name}${written}>${children.join("")}</${name}>`;
}

export interface TextStyle {
  readonly size?: number;
  readonly anchor?: "start" | "middle" | "end";
  readonly weight?: "bold";
  readonly fill?: string;
  /** Degrees, around its own place. */
  readonly turn?: number;
  /** True: with a white edge, readable on whatever is behind it. */
  readonly hasOutline?: boolean;
}

export function text(x: number, y: number, [content, style = {}]: readonly [string, TextStyle?]): Svg {
  const { size = 13, anchor = "start", weight, fill = INK, turn, hasOutline = false } = style;
  return element(
    "text",
    {
      x,
      y,
      "font-size": size,
      "text-anchor": anchor,
      "font-weight": weight,
      fill,
      ...(hasOutline ? { stroke: "#fff", "stroke-width": 3, "paint-order": "stroke" } : {}),
      transform: turn === undefined ? undefined : `rotate(${turn} ${short(x)} ${short(y)})`,
    },
    [escapeText(content)],
  );
}

const WIDTH_OF_A_LETTER = 0.58;

/** About as wide as DejaVu Sans writes it. */
export function textWidth(content: string, size: number): number {
  return content.length * size * WIDTH_OF_A_LETTER;
}

export function escapeText(content: string): string {
  return content
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

function short(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export const INK = "#1b1f24";
export const SOFT_INK = "#57606a";
export const GRID = "#d8dee4";
