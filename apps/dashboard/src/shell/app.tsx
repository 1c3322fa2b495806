import type { UiSession } from "@resource-broker/contract/dashboard";
import { useCallback, useEffect, useState } from "react";
import { AuditPage } from "../audit/audit-page.tsx";
import { CapacityPage } from "../capacity/capacity-page.tsx";
import { DecisionPage } from "../decisions/decision-page.tsx";
import { DecisionsPage } from "../decisions/decisions-page.tsx";
import { ClusterPage } from "../fleet/cluster-page.tsx";
import { FleetPage } from "../fleet/fleet-page.tsx";
import { FlowsPage } from "../flows/flows-page.tsx";
import { MoneyPage } from "../money/money-page.tsx";
import { ApiError, SESSION_PATH } from "../net/api-client.ts";
import { Link } from "../parts/link.tsx";
import { Page } from "../parts/page.tsx";
import { Empty } from "../parts/states.tsx";
import { ReservationPage } from "../reservations/reservation-page.tsx";
import { ReservationsPage } from "../reservations/reservations-page.tsx";
import { SignInPage, type SignInState } from "../sign-in/sign-in-page.tsx";
import { tokenIn } from "../sign-in/token.ts";
import { WhatIfPage } from "../what-if/what-if-page.tsx";
import { type AppDeps, AppDepsContext, SessionContext, useRoute } from "./app-deps.ts";
import { Shell } from "./shell.tsx";
import { Toasts } from "./toasts.tsx";

interface AppProps {
  readonly deps: AppDeps;
  /** Calls back when the broker says that nobody is signed in. */
  readonly onSignedOut: (listener: () => void) => () => void;
}

type State = { readonly session: UiSession } | { readonly signIn: SignInState };

export function App({ deps, onSignedOut }: AppProps) {
  const [state, setState] = useState<State>({ signIn: { kind: "waiting" } });
  const { api, live, clock, router } = deps;

  const signIn = useCallback(async (): Promise<void> => {
    setState({ signIn: { kind: "waiting" } });
    const token = tokenIn(location.hash);
    try {
      // Gone from the address before anything else: nobody shall copy it.
      if (token !== null) router.go(router.route().href, { replace: true });
      if (token !== null) await api.post(SESSION_PATH, { token });
      const session = await api.get<UiSession>(SESSION_PATH);
      clock.set(session.now);
      setState({ session });
    } catch (error) {
      setState({ signIn: signInFailure(error, token !== null) });
    }
  }, [api, clock, router]);

  useEffect(() => void signIn(), [signIn]);
  // A link that is opened where this page is open already changes nothing but what stands behind the #.
  useEffect(() => {
    const onHashChange = (): void => {
      if (tokenIn(location.hash) !== null) void signIn();
    };
    window.addEventListener("hashchange", onHashChange);
    return () => window.removeEventListener("hashchange", onHashChange);
  }, [signIn]);
  useEffect(() => onSignedOut(() => setState({ signIn: { kind: "needed", hasEnded: true } })), [onSignedOut]);
  const isIn = "session" in state;
  useEffect(() => {
    if (!isIn) return undefined;
    live.start();
    return live.stop;
  }, [isIn, live]);

  if (!isIn) return <SignInPage state={state.signIn} retry={() => void signIn()} />;
  const signOut = async (): Promise<void> => {
    await api.remove(SESSION_PATH).catch(() => undefined);
    setState({ signIn: { kind: "needed", hasEnded: false } });
  };
  return (
    <AppDepsContext value={deps}>
      <SessionContext value={state.session}>
        <Toasts>
          <Shell onSignOut={() => void signOut()}>
            <CurrentPage />
          </Shell>
        </Toasts>
      </SessionContext>
    </AppDepsContext>
  );
}

function signInFailure(error: unknown, hadToken: boolean): SignInState {
  if (!(error instanceof ApiError)) return { kind: "failed", message: String(error), status: -1 };
  if (error.status === 401 && !hadToken) return { kind: "needed", hasEnded: false };
  return { kind: "failed", message: error.message, status: error.status };
}

function CurrentPage() {
  const { page, id } = useRoute();
  switch (page) {
    case "fleet":
      return id === null ? <FleetPage /> : <ClusterPage key={id} id={id} />;
    case "flows":
      return <FlowsPage />;
    case "reservations":
      return id === null ? <ReservationsPage /> : <ReservationPage key={id} id={id} />;
    case "decisions":
      return id === null ? <DecisionsPage /> : <DecisionPage key={id} id={id} />;
    case "what-if":
      return <WhatIfPage />;
    case "capacity":
      return <CapacityPage />;
    case "money":
      return <MoneyPage />;
    case "audit":
      return <AuditPage />;
    case null:
      return (
        <Page title="No such page">
          <Empty title="Nothing is here" icon="search">
            <Link to="/fleet">Go to the fleet</Link>
          </Empty>
        </Page>
      );
  }
}
