import type { UiSession } from "@resource-broker/contract";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { Icon, type IconName } from "../parts/icons.tsx";
import { Link } from "../parts/link.tsx";
import { PAGES } from "../routing/route.ts";
import { Badge } from "./badge.tsx";
import { ErrorBoundary } from "./mishap.tsx";
import { useRoute, useSession } from "./session-context.ts";
import { applyTheme, nextTheme, readTheme, type Theme } from "./theme.ts";
import "../parts/button.css";
import "./shell.css";

interface ShellProps {
  readonly children: ReactNode;
  readonly onSignOut: () => void;
}

export function Shell({ children, onSignOut }: ShellProps) {
  const session = useSession();
  const { page, href } = useRoute();
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
          {PAGES.map(({ name, title }) => (
            <li key={name}>
              <Link to={`/${name}`} isCurrent={name === page} className="menu-link">
                <Icon name={name} size={18} />
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
        <ErrorBoundary page={href}>{children}</ErrorBoundary>
      </main>
    </div>
  );
}

function Who({ session }: { readonly session: UiSession }) {
  const by = session.by === "link" ? "signed in by a link" : "signed in by certificate";
  return (
    <span className="who" title={`${session.name}, ${by}`}>
      {session.name !== session.role && <span className="who-name clip">{session.name}</span>}
      <span className="chip is-calm">{session.role}</span>
    </span>
  );
}

const THEME_ICONS: Readonly<Record<Theme, IconName>> = { auto: "auto", light: "sun", dark: "moon" };
const THEME_WORDS: Readonly<Record<Theme, string>> = {
  auto: "as the system",
  light: "light",
  dark: "dark",
};

function ThemeButton() {
  const [theme, setTheme] = useState(() => readTheme(localStorage));
  const change = (): void => {
    const next = nextTheme(theme);
    applyTheme(next, document.documentElement, localStorage);
    setTheme(next);
  };
  const label = `Colours: ${THEME_WORDS[theme]}. Change to ${THEME_WORDS[nextTheme(theme)]}`;
  return (
    <button
      type="button"
      className="button is-quiet is-icon"
      onClick={change}
      aria-label={label}
      title={label}
    >
      <Icon name={THEME_ICONS[theme]} />
    </button>
  );
}
