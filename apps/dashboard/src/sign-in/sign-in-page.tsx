import { useEffect } from "react";
import { sentence } from "../format/sentence.ts";
import { Code } from "../parts/code.tsx";
import { Icon } from "../parts/icons.tsx";
import "../parts/button.css";
import "../parts/page.css";
import "../parts/states.css";
import "../shell/shell.css";
import "./sign-in.css";

/** Why nobody is signed in. */
export type SignInState =
  | { readonly kind: "waiting" }
  /** Without a link, or after the session ended. */
  | { readonly kind: "needed"; readonly hasEnded: boolean }
  | { readonly kind: "failed"; readonly message: string; readonly status: number };

const TITLES: Readonly<Record<number, string>> = {
  0: "The broker cannot be reached",
  401: "This link has expired",
  403: "This certificate has no access",
  503: "This replica is not the leader",
};

interface SignInProps {
  readonly state: SignInState;
  readonly retry: () => void;
}

export function SignInPage({ state, retry }: SignInProps) {
  useEffect(() => {
    document.title = "Sign in · Resource Broker";
  }, []);
  return (
    <main className="sign-in">
      <section className="sign-in-card card">
        <p className="brand">
          <img src="/icon.svg" alt="" width={28} height={28} /> Resource Broker
        </p>
        <Explanation state={state} />
        {state.kind === "failed" && (
          <button type="button" className="button" onClick={retry}>
            Try again
          </button>
        )}
      </section>
    </main>
  );
}

function Explanation({ state }: { readonly state: SignInState }) {
  if (state.kind === "waiting") {
    return (
      <div role="status">
        <h1>Signing in …</h1>
      </div>
    );
  }
  const isFailed = state.kind === "failed";
  const title = isFailed ? (TITLES[state.status] ?? "Signing in failed") : titleOf(state.hasEnded);
  return (
    <>
      <h1>{title}</h1>
      {isFailed && (
        <p className="notice is-bad" role="alert">
          <Icon name="warning" /> {sentence(state.message)}
        </p>
      )}
      {(!isFailed || state.status === 401) && <Ways />}
    </>
  );
}

function titleOf(hasEnded: boolean): string {
  return hasEnded ? "Your session has ended" : "Sign in";
}

function Ways() {
  return (
    <>
      <p>
        A link signs one browser in, once, within two minutes. Get one on a machine where you are an admin:
      </p>
      <Code text="brokerctl dashboard" label="Command" />
      <p className="note">
        <code>npm start</code> prints one too. Over HTTPS, a browser with an admin certificate needs no link.
      </p>
    </>
  );
}
