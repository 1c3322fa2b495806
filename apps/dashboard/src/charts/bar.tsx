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

interface LegendProps {
  readonly label: string;
  readonly items: readonly {
    readonly name: string;
    readonly title: string;
    /** Its current value. */
    readonly value?: string;
  }[];
}

export function Legend({ label, items }: LegendProps) {
  return (
    <ul className="legend" aria-label={label}>
      {items.map(({ name, title, value }) => (
        <li key={name}>
          <span className={`swatch fill is-${name}`} aria-hidden="true" />
          {title} {value !== undefined && <span className="num strong">{value}</span>}
        </li>
      ))}
    </ul>
  );
}
