import type { MouseEvent, ReactNode } from "react";
import { hrefTo } from "../routing/route.ts";
import { useAppDeps } from "../shell/app-deps.ts";

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
  const { router } = useAppDeps();
  const follow = (event: MouseEvent): void => {
    const isPlain =
      event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
    if (!isPlain) return;
    event.preventDefault();
    router.go(to);
  };
  return (
    <a
      href={to}
      className={className}
      onClick={follow}
      tabIndex={skipsTabOrder === true ? -1 : undefined}
      aria-label={label}
      title={title}
      aria-current={isCurrent === true ? "page" : undefined}
    >
      {children}
    </a>
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
