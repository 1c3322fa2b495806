import type { ReactNode } from "react";
import { Link as RouterLink } from "wouter";
import { hrefTo } from "../shell/navigation.ts";
import { Icon } from "./icons.tsx";

interface LinkProps {
  readonly to: string;
  readonly children: ReactNode;
  readonly className?: string;
  readonly label?: string;
  readonly title?: string;
  readonly isCurrent?: boolean;
  /** For the pointer only: the same link stands elsewhere for the keyboard. */
  readonly skipsTabOrder?: boolean;
}

/** A real link: it can be opened in a new tab, copied and focused; a plain click stays in the page. */
export function Link({ to, children, className, label, title, isCurrent, skipsTabOrder }: LinkProps) {
  return (
    <RouterLink
      to={to}
      className={className}
      tabIndex={skipsTabOrder === true ? -1 : undefined}
      aria-label={label}
      title={title}
      aria-current={isCurrent === true ? "page" : undefined}
    >
      {children}
    </RouterLink>
  );
}

/** To the page of a cluster. A long name is cut off in a table, and whole under the pointer. */
export function ClusterLink({ id }: { readonly id: string }) {
  return (
    <Link to={hrefTo("fleet", id)} className="name-link clip" title={id}>
      {id}
    </Link>
  );
}

/** Two clusters, with the arrow from the one to the other. */
export function ClusterPair({ from, to }: { readonly from: string; readonly to: string }) {
  return (
    <>
      <ClusterLink id={from} />
      <Icon name="arrow" size={12} />
      <ClusterLink id={to} />
    </>
  );
}
