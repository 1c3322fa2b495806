import { PATH, type SessionDTO } from "@resource-broker/contract";
import { useCallback, useEffect, useState } from "react";
import { Route, Switch } from "wouter";
import { AuditPage } from "../audit/audit-page.tsx";
import { CapacityPage } from "../capacity/capacity-page.tsx";
import { DecisionPage } from "../decisions/decision-page.tsx";
import { DecisionsPage } from "../decisions/decisions-page.tsx";
import { ClusterPage } from "../fleet/cluster-page.tsx";
import { FleetPage } from "../fleet/fleet-page.tsx";
import { FlowsPage } from "../flows/flows-page.tsx";
import { MoneyPage } from "../money/money-page.tsx";
import { ApiError } from "../net/api-client.ts";
import { Toasts } from "../parts/confirm.tsx";
import { Link } from "../parts/link.tsx";
import { Page } from "../parts/page.tsx";
import { Empty } from "../parts/states.tsx";
import { RequestPage } from "../requests/request-page.tsx";
import { RequestsPage } from "../requests/requests-page.tsx";
import { ReservationPage } from "../reservations/reservation-page.tsx";
import { ReservationsPage } from "../reservations/reservations-page.tsx";
import { SignInPage, type SignInState } from "../sign-in/sign-in-page.tsx";
import { WhatIfPage } from "../what-if/what-if-page.tsx";
import { type AppDeps, AppDepsContext, SessionContext } from "./app-deps.ts";
import { Shell } from "./shell.tsx";

interface AppProps {
  readonly deps: AppDeps;
  /** Calls back when the broker says that nobody is signed in. */
  readonly onSignedOut: (listener: () => void) => () => void;
}

type State = { readonly session: SessionDTO } | { readonly signIn: SignInState };

export function App({ deps, onSignedOut }: AppProps) {
  const [state, setState] = useState<State>({ signIn: { kind: "waiting" } });
  const { api, live, clock } = deps;

  const signIn = useCallback(async (): Promise<void> => {
    setState({ signIn: { kind: "waiting" } });
    const token = tokenIn(location.hash);
    try {
      // Gone from the address before anything else: nobody shall copy it.
      if (token !== null) history.replaceState(null, "", `${location.pathname}${location.search}`);
      if (token !== null) await api.post(PATH.session, { token });
      const session = await api.get<SessionDTO>(PATH.session);
      clock.set(session.now);
      setState({ session });
    } catch (error) {
      setState({ signIn: signInFailure(error, token !== null) });
    }
  }, [api, clock]);

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
    await api.remove(PATH.session).catch(() => undefined);
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

/** The one-time token behind `#`; null: there is none. */
function tokenIn(hash: string): string | null {
  return new URLSearchParams(hash.replace(/^#/, "")).get("token") || null;
}

function CurrentPage() {
  return (
    <Switch>
      <Route path="/" component={FleetPage} />
      <Route path="/fleet" component={FleetPage} />
      <Route path="/fleet/:id">{({ id }) => <ClusterPage key={id} id={decoded(id)} />}</Route>
      <Route path="/flows" component={FlowsPage} />
      <Route path="/reservations" component={ReservationsPage} />
      <Route path="/reservations/:id">{({ id }) => <ReservationPage key={id} id={decoded(id)} />}</Route>
      <Route path="/requests" component={RequestsPage} />
      <Route path="/requests/:id">{({ id }) => <RequestPage key={id} id={decoded(id)} />}</Route>
      <Route path="/decisions" component={DecisionsPage} />
      <Route path="/decisions/:id">{({ id }) => <DecisionPage key={id} id={decoded(id)} />}</Route>
      <Route path="/what-if" component={WhatIfPage} />
      <Route path="/capacity" component={CapacityPage} />
      <Route path="/money" component={MoneyPage} />
      <Route path="/audit" component={AuditPage} />
      <Route>
        <Page title="No such page">
          <Empty title="Nothing is here" icon="search">
            <Link to="/fleet">Go to the fleet</Link>
          </Empty>
        </Page>
      </Route>
    </Switch>
  );
}

/** wouter leaves an escaped slash as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
