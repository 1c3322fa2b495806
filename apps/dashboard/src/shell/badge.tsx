import type { LiveStatus } from "../live/live-connection.ts";
import "./badge.css";
import { useLiveStatus } from "./session-context.ts";

const WORDS: Readonly<Record<LiveStatus, { readonly text: string; readonly title: string }>> = {
  connecting: { text: "Connecting", title: "The stream of changes is being opened" },
  live: { text: "Live", title: "Changes show within a second" },
  reconnecting: { text: "Reconnecting", title: "The broker is away; it is tried again" },
  stale: { text: "Stale", title: "Nothing was heard for 12 s: what is shown may be old" },
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
