/** Marks of an axis from 0: few, at round numbers, the last at or above the highest value. */
export function axisTicks(highest: number, wanted = 4): readonly number[] {
  if (!(highest > 0)) return [0, 1];
  const step = roundStep(highest / wanted);
  const marks = Math.ceil(highest / step - 1e-9);
  return Array.from({ length: marks + 1 }, (_, index) => index * step);
}

/** Bytes are read in powers of two: 256 GiB, not 274.9 GB. */
export function binaryTicks(highest: number, wanted = 4): readonly number[] {
  if (!(highest > 0)) return [0, 1];
  const unit = 1024 ** Math.floor(Math.log2(highest) / 10);
  return axisTicks(highest / unit, wanted).map((mark) => mark * unit);
}

function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((each) => each * power >= rough - 1e-12) ?? 10;
  return step * power;
}

const MINUTES = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];

/** The next step of a clock that is at least this long: 5 minutes, 3 hours, a day. */
export function roundTime(roughMs: number): number {
  const minutes = MINUTES.find((each) => each * 60_000 >= roughMs) ?? Math.ceil(roughMs / 86_400_000) * 1440;
  return minutes * 60_000;
}

/** A line through the points that are there; it breaks where one is missing. */
export function linePath(points: readonly (readonly [x: number, y: number] | null)[]): string {
  let isOpen = false;
  return points
    .map((point) => {
      if (point === null) {
        isOpen = false;
        return "";
      }
      const command = isOpen ? "L" : "M";
      isOpen = true;
      return `${command}${round(point[0])} ${round(point[1])}`;
    })
    .join("");
}

/** The area between two lines, in as many pieces as there are without a gap. */
export function bandPath(
  points: readonly { readonly x: number; readonly top: number | null; readonly bottom: number }[],
): string {
  const pieces: string[] = [];
  let piece: { readonly x: number; readonly top: number; readonly bottom: number }[] = [];
  const close = (): void => {
    if (piece.length > 0) pieces.push(closedPath(piece));
    piece = [];
  };
  for (const { x, top, bottom } of points) {
    if (top === null) close();
    else piece.push({ x, top, bottom });
  }
  close();
  return pieces.join("");
}

function closedPath(
  piece: readonly { readonly x: number; readonly top: number; readonly bottom: number }[],
): string {
  const there = piece.map(({ x, top }) => `${round(x)} ${round(top)}`).join("L");
  const back = piece
    .toReversed()
    .map(({ x, bottom }) => `${round(x)} ${round(bottom)}`)
    .join("L");
  return `M${there}L${back}Z`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
