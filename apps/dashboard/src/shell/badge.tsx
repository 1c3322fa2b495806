import type { LiveStatus } from "../live/live-connection.ts";
import "./badge.css";
import { useLiveStatus } from "./session-context.ts";

const WORDS: Readonly<Record<LiveStatus, { readonly text: string; readonly title: string }>> = {
  connecting: { text: "Connecting", title: "The stream of changes is being opened" },
  live: { text: "Live", title: "Changes show within a second" },
  reconnecting: { text: "Reconnecting", title: "The broker does not answer; reconnecting" },
  stale: { text: "Stale", title: "No data for 12 s: the page may be out of date" },
};

export function Badge() {
  const status = useLiveStatus();
  const { text, title } = WORDS[status];
  return (
    <span className={`badge is-${status}`} role="status" title={title} data-status={status}>
      <span className="badge-dot" aria-hidden="true" />
      {text}
    </span>
  );
}
