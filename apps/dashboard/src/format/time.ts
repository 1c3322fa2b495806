const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Seconds in steps of five, so that a list of them is not in constant motion. */
const SECONDS_STEP = 5;

/** How long ago, roughly. */
export function agoText(ageMs: number): string {
  if (ageMs < SECONDS_STEP * SECOND) return "just now";
  if (ageMs < MINUTE) {
    return `${Math.floor(ageMs / (SECONDS_STEP * SECOND)) * SECONDS_STEP} s ago`;
  }
  return `${roughSpan(ageMs)} ago`;
}

/** The one unit that matters: "3 min", "2 h", "5 d". */
function roughSpan(ms: number): string {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** The two largest units: "1 h 04 min", "3 min 09 s". */
export function spanText(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${twoDigits((ms % MINUTE) / SECOND)} s`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${twoDigits((ms % HOUR) / MINUTE)} min`;
  return `${Math.floor(ms / DAY)} d ${Math.floor((ms % DAY) / HOUR)} h`;
}

/** For lists: only what still changes slowly. */
export function leftText(leftMs: number): string {
  if (leftMs <= 0) return "now";
  return leftMs < MINUTE ? "< 1 min" : roughSpan(leftMs);
}

function twoDigits(value: number): string {
  return String(Math.floor(value)).padStart(2, "0");
}

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const SHORT_CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const DAY_AND_CLOCK = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  hour: "2-digit",
  minute: "2-digit",
});
const WEEKDAY = new Intl.DateTimeFormat("en-GB", { weekday: "short", day: "numeric" });
const WHOLE = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });

export function clockText(atMs: number): string {
  return CLOCK.format(atMs);
}

export function momentText(atMs: number): string {
  return DAY_AND_CLOCK.format(atMs);
}

export function wholeText(atMs: number): string {
  return WHOLE.format(atMs);
}

/** A mark on the axis of a chart whose marks are this far apart. */
export function axisText(atMs: number, everyMs: number): string {
  return (everyMs < DAY ? SHORT_CLOCK : WEEKDAY).format(atMs);
}

/** How far the reader's clock is before that of Greenwich. */
export function zoneOffsetMs(atMs: number): number {
  return -new Date(atMs).getTimezoneOffset() * MINUTE;
}
