import type { Clock } from "@resource-broker/base";
import type { Size } from "../view/render.ts";

/** Alternate screen, no cursor, no line breaks of the terminal's own. */
const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l\u001b[2J";
export const LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
/** What is between these is shown at once, where the terminal knows how. */
const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";
const CLEAR_ROW = "\u001b[2K";
const CLEAR_ALL = "\u001b[2J";

/** At most two frames a second: faster changes cannot be read. */
const MIN_REDRAW_MS = 500;

export interface ScreenOptions {
  readonly write: (text: string) => void;
  readonly size: () => Size;
  readonly draw: (size: Size) => readonly string[];
  readonly clock: Pick<Clock, "monotonicMs" | "after">;
}

export interface Screen {
  readonly enter: () => void;
  /** Something may look different: drawn at once if the last frame is old enough, else as soon as it is. */
  readonly changed: () => void;
  /** Draws now, whatever was there: for a key, another size, or a terminal that was used by others. */
  readonly redraw: () => void;
  readonly leave: () => void;
}

/** Draws frames where a person looks; only rows that differ are written. */
export function createScreen({ write, size, draw, clock }: ScreenOptions): Screen {
  let isOn = false;
  let shown: readonly string[] = [];
  let drawnAt = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | undefined;

  const drawFrame = (): void => {
    cancel?.();
    cancel = undefined;
    drawnAt = clock.monotonicMs();
    const frame = draw(size());
    const text = differences(shown, frame);
    shown = frame;
    if (text !== "") write(`${BEGIN}${text}${END}`);
  };

  const redraw = (): void => {
    if (!isOn) return;
    shown = [];
    write(CLEAR_ALL);
    drawFrame();
  };

  return {
    enter: () => {
      isOn = true;
      write(ENTER);
      shown = [];
      drawFrame();
    },
    changed: () => {
      if (!isOn || cancel !== undefined) return;
      const wait = drawnAt + MIN_REDRAW_MS - clock.monotonicMs();
      if (wait <= 0) drawFrame();
      else cancel = clock.after(wait, drawFrame);
    },
    redraw,
    leave: () => {
      if (!isOn) return;
      isOn = false;
      cancel?.();
      cancel = undefined;
      write(LEAVE);
    },
  };
}

/** Each row that is not as it was, at its place. */
function differences(before: readonly string[], after: readonly string[]): string {
  let text = "";
  for (let row = 0; row < Math.max(before.length, after.length); row++) {
    const wanted = after[row] ?? "";
    if ((before[row] ?? "") !== wanted) text += `\u001b[${row + 1};1H${CLEAR_ROW}${wanted}`;
  }
  return text;
}
