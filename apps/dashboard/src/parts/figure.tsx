import "./figure.css";

interface FigureProps {
  readonly title: string;
  readonly value: string;
  readonly note: string;
}

/** One number that matters, among others in a row of totals. */
export function Figure({ title, value, note }: FigureProps) {
  return (
    <div className="figure">
      <span className="figure-title">{title}</span>
      <span className="figure-value num">{value}</span>
      <span className="figure-note num">{note}</span>
    </div>
  );
}
