import "./bars.css";
import "./ink.css";

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
