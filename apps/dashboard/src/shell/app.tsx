import type { UiSession } from "@resource-broker/contract";
import { useCallback, useEffect, useState } from "react";
import { AskFailure, SESSION_PATH } from "../net/ask.ts";
import { SignInPage, type SignInState } from "../sign-in/sign-in-page.tsx";
import { tokenIn } from "../sign-in/token.ts";
import { CurrentPage } from "./pages.tsx";
import { SessionContext, type Surroundings, SurroundingsContext } from "./session-context.ts";
import { Shell } from "./shell.tsx";
import { Toasts } from "./toasts.tsx";

interface AppProps {
  readonly surroundings: Surroundings;
  /** Calls back when the broker says that nobody is signed in. */
  readonly onSignedOut: (listener: () => void) => () => void;
}

type State = { readonly session: UiSession } | { readonly signIn: SignInState };

export function App({ surroundings, onSignedOut }: AppProps) {
  const [state, setState] = useState<State>({ signIn: { kind: "waiting" } });
  const { ask, live, clock, router } = surroundings;

  const enter = useCallback(async (): Promise<void> => {
    setState({ signIn: { kind: "waiting" } });
    const token = tokenIn(location.hash);
    try {
      // Gone from the address before anything else: nobody shall copy it.
      if (token !== null) router.go(router.route().href, { replace: true });
      if (token !== null) await ask.post(SESSION_PATH, { token });
      const session = await ask.get<UiSession>(SESSION_PATH);
      clock.set(session.now);
      setState({ session });
    } catch (error) {
      setState({ signIn: whyNot(error, token !== null) });
    }
  }, [ask, clock, router]);

  useEffect(() => void enter(), [enter]);
  // A link that is opened where this page is open already changes nothing but what stands behind the #.
  useEffect(() => {
    const look = (): void => {
      if (tokenIn(location.hash) !== null) void enter();
    };
    window.addEventListener("hashchange", look);
    return () => window.removeEventListener("hashchange", look);
  }, [enter]);
  useEffect(() => onSignedOut(() => setState({ signIn: { kind: "needed", hasEnded: true } })), [onSignedOut]);
  const isIn = "session" in state;
  useEffect(() => {
    if (!isIn) return undefined;
    live.start();
    return live.stop;
  }, [isIn, live]);

  if (!isIn) return <SignInPage state={state.signIn} retry={() => void enter()} />;
  const signOut = async (): Promise<void> => {
    await ask.remove(SESSION_PATH).catch(() => undefined);
    setState({ signIn: { kind: "needed", hasEnded: false } });
  };
  return (
    <SurroundingsContext value={surroundings}>
      <SessionContext value={state.session}>
        <Toasts>
          <Shell onSignOut={() => void signOut()}>
            <CurrentPage />
          </Shell>
        </Toasts>
      </SessionContext>
    </SurroundingsContext>
  );
}

function whyNot(error: unknown, hadToken: boolean): SignInState {
  if (!(error instanceof AskFailure)) return { kind: "failed", message: String(error), status: -1 };
  if (error.status === 401 && !hadToken) return { kind: "needed", hasEnded: false };
  return { kind: "failed", message: error.message, status: error.status };
}
