import { type ReactNode, useEffect, useRef } from "react";

interface PageProps {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
  /** Stands over the title: the way back. */
  readonly trail?: ReactNode;
}

/** A page under its heading, which is where readers of a screen continue after a link. */
export function Page({ title, lead, actions, children, trail }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  const isFirst = useRef(true);
  useEffect(() => {
    document.title = `${title} · Resource Broker`;
    // The first page of a visit leaves the focus at the top, before the skip link.
    if (!isFirst.current || document.body.dataset["visited"] === "yes")
      heading.current?.focus({ preventScroll: true });
    document.body.dataset["visited"] = "yes";
    isFirst.current = false;
  }, [title]);
  return (
    <article className="page">
      {trail !== undefined && <div className="trail">{trail}</div>}
      <header className="page-head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
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
