import type { UiTime } from "@resource-broker/contract";
import { agoText, leftText, spanText, wholeText } from "../format/time.ts";
import { useSurroundings, useTicking } from "../shell/session-context.ts";

/** "12 s ago", with the whole time on hover. */
export function Ago({ at }: { readonly at: UiTime }) {
  const { clock, calm } = useSurroundings();
  const atMs = Date.parse(at);
  const text = useTicking(calm, () => agoText(Math.max(0, clock.now() - atMs)));
  return (
    <time dateTime={at} title={wholeText(atMs)}>
      {text}
    </time>
  );
}

/** "in 12 min", for lists. */
export function Left({ until }: { readonly until: UiTime }) {
  const { clock, calm } = useSurroundings();
  const untilMs = Date.parse(until);
  const text = useTicking(calm, () => leftText(untilMs - clock.now()));
  return (
    <time dateTime={until} title={wholeText(untilMs)}>
      {text === "now" ? "ending" : text}
    </time>
  );
}

/** Second by second; only on a page that is about this one moment. */
export function Countdown({ until }: { readonly until: UiTime }) {
  const { clock, brisk } = useSurroundings();
  const untilMs = Date.parse(until);
  const text = useTicking(brisk, () => spanText(untilMs - clock.now()));
  return (
    <time dateTime={until} title={wholeText(untilMs)} className="num">
      {text}
    </time>
  );
}
