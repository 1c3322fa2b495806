import "./bars.css";
import "./ink.css";

interface BarProps {
  /** All of it in words, for those who do not see it. */
  readonly label: string;
  /** From the left; shares of the whole, from 0 to 1. */
  readonly fills: readonly { readonly name: string; readonly share: number }[];
  /** More than there is. */
  readonly isOver?: boolean;
}

/** Told apart by pattern as well as by colour. */
export function Bar({ label, fills, isOver = false }: BarProps) {
  return (
    <span className={isOver ? "bar is-over" : "bar"} role="img" aria-label={label}>
      {fills.map(({ name, share }) => (
        <span key={name} className={`fill is-${name}`} style={{ inlineSize: `${share * 100}%` }} />
      ))}
    </span>
  );
}
