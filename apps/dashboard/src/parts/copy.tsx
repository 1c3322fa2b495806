import { useState } from "react";
import { useAppDeps } from "../shell/session-context.ts";
import { Icon } from "./icons.tsx";
import "./button.css";

const SHOWN_MS = 1500;

export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const { timers } = useAppDeps();
  const [state, setState] = useState<"ready" | "copied" | "refused">("ready");
  const copy = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      setState("refused");
    }
    timers.after(SHOWN_MS, () => setState("ready"));
  };
  const word = { ready: "Copy", copied: "Copied", refused: "Select and copy" }[state];
  return (
    <button
      type="button"
      className="button is-small is-quiet"
      onClick={() => void copy()}
      aria-label={`${word}: ${what}`}
    >
      <Icon name={state === "copied" ? "check" : "copy"} size={14} />
      <span aria-live="polite">{word}</span>
    </button>
  );
}
