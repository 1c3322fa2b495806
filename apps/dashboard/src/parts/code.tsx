import { CopyButton } from "./copy.tsx";
import { Card } from "./page.tsx";
import "./code.css";

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
