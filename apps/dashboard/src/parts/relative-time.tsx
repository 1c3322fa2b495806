import { agoText, leftText, spanText, wholeText } from "../format/time.ts";
import { useAppDeps, useTickingText } from "../shell/app-deps.ts";

/** "12 s ago", with the whole time on hover. */
export function TimeAgo({ at }: { readonly at: string }) {
  const { clock, slowTicker } = useAppDeps();
  const atMs = Date.parse(at);
  const text = useTickingText(slowTicker, () => agoText(Math.max(0, clock.now() - atMs)));
  return (
    <time dateTime={at} title={wholeText(atMs)}>
      {text}
    </time>
  );
}

interface TimeLeftProps {
  readonly until: string;
  /** Stands before what is left. */
  readonly before?: string;
  /** When nothing is left. */
  readonly over?: string;
}

/** "12 min", for lists. */
export function TimeLeft({ until, before = "", over = "ending" }: TimeLeftProps) {
  const { clock, slowTicker } = useAppDeps();
  const untilMs = Date.parse(until);
  const text = useTickingText(slowTicker, () => leftText(untilMs - clock.now()));
  return (
    <time dateTime={until} title={wholeText(untilMs)}>
      {text === "now" ? over : `${before}${text}`}
    </time>
  );
}

/** Second by second; only on a page that is about this one moment. */
export function Countdown({ until }: { readonly until: string }) {
  const { clock, fastTicker } = useAppDeps();
  const untilMs = Date.parse(until);
  const text = useTickingText(fastTicker, () => spanText(untilMs - clock.now()));
  return (
    <time dateTime={until} title={wholeText(untilMs)} className="num">
      {text}
    </time>
  );
}
