import "./figure.css";

interface TotalProps {
  readonly title: string;
  readonly value: string;
  readonly note: string;
}

/** One number that matters, among others in a row of totals. */
export function Total({ title, value, note }: TotalProps) {
  return (
    <div className="figure">
      <span className="figure-title">{title}</span>
      <span className="figure-value num">{value}</span>
      <span className="figure-note num">{note}</span>
    </div>
  );
}
