import { errorText } from "@resource-broker/base";
import type { SessionDTO } from "@resource-broker/contract";
import { Component, type ReactNode, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { Icon } from "../parts/icons.tsx";
import { Link } from "../parts/link.tsx";
import { PAGES } from "./navigation.ts";
import { useLiveStatus, useSession } from "./app-deps.ts";
import { applyTheme, readTheme, THEMES } from "./theme.ts";
import "../parts/button.css";
import "./shell.css";
import type { LiveStatus } from "../live/live-connection.ts";
import "./badge.css";
import { Empty } from "../parts/states.tsx";

/** A page that cannot be drawn takes neither menu nor badge with it. Only a class can catch what a component throws. */
class ErrorBoundary extends Component<
  { readonly children: ReactNode },
  { readonly message: string | undefined }
> {
  override state = { message: undefined };

  static getDerivedStateFromError(error: unknown): { readonly message: string } {
    return { message: errorText(error) };
  }

  override render(): ReactNode {
    if (this.state.message === undefined) return this.props.children;
    return (
      <Empty title="This page cannot be shown" icon="warning">
        {this.state.message}. This is an error of the page, not of the broker; the other pages still work.
      </Empty>
    );
  }
}

const WORDS: Readonly<Record<LiveStatus, { readonly text: string; readonly title: string }>> = {
  connecting: { text: "Connecting", title: "The stream of changes is being opened" },
  live: { text: "Live", title: "Changes show within a second" },
  reconnecting: { text: "Reconnecting", title: "The broker does not answer; reconnecting" },
  stale: { text: "Stale", title: "No data for 12 s: the page may be out of date" },
};

function Badge() {
  const status = useLiveStatus();
  const { text, title } = WORDS[status];
  return (
    <span className={`badge is-${status}`} role="status" title={title} data-status={status}>
      <span className="badge-dot" aria-hidden="true" />
      {text}
    </span>
  );
}

interface ShellProps {
  readonly children: ReactNode;
  readonly onSignOut: () => void;
}

export function Shell({ children, onSignOut }: ShellProps) {
  const session = useSession();
  const [path] = useLocation();
  const [, name = ""] = path.split("/");
  const page = name === "" ? "fleet" : name;
  const menu = useRef<HTMLElement>(null);
  // On a phone the menu is wider than the screen.
  useEffect(() => {
    menu.current
      ?.querySelector('[aria-current="page"]')
      ?.scrollIntoView({ block: "nearest", inline: "center" });
  }, [page]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <Link to="/fleet" className="brand" label="Resource Broker">
          <img src="/icon.svg" alt="" width={24} height={24} />
          <span>Resource Broker</span>
        </Link>
        <Badge />
        <span className="top-space" />
        <Who session={session} />
        <ThemeButton />
        <button
          type="button"
          className="button is-quiet is-icon"
          onClick={onSignOut}
          aria-label="Sign out"
          title="Sign out"
        >
          <Icon name="exit" />
        </button>
      </header>
      <nav className="menu" ref={menu} aria-label="Pages of the dashboard">
        <ul>
          {PAGES.map(({ name: each, title }) => (
            <li key={each}>
              <Link to={`/${each}`} isCurrent={each === page} className="menu-link">
                <Icon name={each} size={18} />
                <span>{title}</span>
              </Link>
            </li>
          ))}
        </ul>
        <p className="menu-foot note">
          Ledger <span className="mono">{session.ledgerID.slice(0, 8)}</span>
          <br />
          Version {session.version}
        </p>
      </nav>
      <main id="main" className="main" tabIndex={-1}>
        {/* The next page starts without the error of this one. */}
        <ErrorBoundary key={path === "/" ? "/fleet" : path}>{children}</ErrorBoundary>
      </main>
    </div>
  );
}

function Who({ session }: { readonly session: SessionDTO }) {
  const by = session.by === "link" ? "signed in by a link" : "signed in by certificate";
  return (
    <span className="who" title={`${session.name}, ${by}`}>
      {session.name !== session.role && <span className="who-name clip">{session.name}</span>}
      <span className="chip is-calm">{session.role}</span>
    </span>
  );
}

function ThemeButton() {
  const [theme, setTheme] = useState(() => readTheme(localStorage));
  const { icon, words, next } = THEMES[theme];
  const change = (): void => {
    applyTheme(next, document.documentElement, localStorage);
    setTheme(next);
  };
  const label = `Colours: ${words}. Change to ${THEMES[next].words}`;
  return (
    <button
      type="button"
      className="button is-quiet is-icon"
      onClick={change}
      aria-label={label}
      title={label}
    >
      <Icon name={icon} />
    </button>
  );
}
