import { Card } from "./page.tsx";
import "./code.css";
import { useState } from "react";
import { useAppDeps } from "../shell/app-deps.ts";
import { Icon } from "./icons.tsx";
import "./button.css";

const SHOWN_MS = 1500;

function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
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

interface CodeProps {
  readonly text: string;
  /** For those who do not see it: "The object as YAML". */
  readonly label: string;
}

export function Code({ text, label }: CodeProps) {
  return (
    <pre className="yaml" tabIndex={0} aria-label={label}>
      {text}
    </pre>
  );
}

export function CodeCard({ title, text, label }: CodeProps & { readonly title: string }) {
  return (
    <Card title={title} note={<CopyButton text={text} what={label} />}>
      <Code text={text} label={label} />
    </Card>
  );
}

/** A line for a shell, ready to be pasted. */
export function Command({ line, what }: { readonly line: string; readonly what: string }) {
  return (
    <div className="command">
      <code tabIndex={0}>{line}</code>
      <CopyButton text={line} what={what} />
    </div>
  );
}
