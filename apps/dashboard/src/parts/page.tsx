import { type ReactNode, useEffect } from "react";
import "./facts.css";
import "./figure.css";
import "./page.css";

interface PageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Stands over the title: the way back. */
  readonly trail?: ReactNode;
}

/** Moves the focus to the heading when the focused element was removed. */
export function focusHeading(): void {
  document.querySelector<HTMLElement>("main h1")?.focus({ preventScroll: true });
}

/** A page under its heading, which is where readers of a screen continue after a link. */
export function Page({ title, lead, actions, children, trail }: PageProps) {
  useEffect(() => {
    document.title = `${title} · Resource Broker`;
  }, [title]);
  useEffect(() => {
    // The first page of a visit leaves the focus at the top, before the skip link.
    if (document.body.dataset["visited"] === "yes") focusHeading();
    document.body.dataset["visited"] = "yes";
  }, []);
  return (
    <article className="page">
      {trail !== undefined && <div className="trail">{trail}</div>}
      <header className="page-head">
        <div>
          <h1 tabIndex={-1}>{title}</h1>
          {lead !== undefined && <p className="lead">{lead}</p>}
        </div>
        {actions !== undefined && <div className="page-actions">{actions}</div>}
      </header>
      {children}
    </article>
  );
}

export function Card({
  title,
  note,
  children,
  className = "",
}: {
  readonly title: string;
  readonly note?: ReactNode;
  readonly children: ReactNode;
  readonly className?: string;
}) {
  return (
    <section className={`card ${className}`} aria-label={title}>
      <header className="card-head">
        <h2>{title}</h2>
        {note !== undefined && <span className="note">{note}</span>}
      </header>
      {children}
    </section>
  );
}

/** Names and values; what is empty is left out. */
export function Facts({ facts }: { readonly facts: readonly (readonly [name: string, value: ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts
        .filter(([, value]) => value !== "" && value !== null)
        .map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}

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
