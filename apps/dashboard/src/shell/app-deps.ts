import type { SessionDTO } from "@resource-broker/contract";
import { createContext, useContext, useEffect, useState, useSyncExternalStore } from "react";
import { type Answer, createLiveAnswer, type RefreshPolicy } from "../live/live-answer.ts";
import type { LiveConnection, LiveStatus } from "../live/live-connection.ts";
import type { ApiClient } from "../net/api-client.ts";
import type { BrokerClock, Ticker, Timers } from "../time/clock.ts";

/** What every page works with. */
export interface AppDeps {
  readonly api: ApiClient;
  readonly live: LiveConnection;
  readonly clock: BrokerClock;
  readonly timers: Timers;
  /** For "12 s ago". */
  readonly slowTicker: Ticker;
  /** For a countdown that is looked at. */
  readonly fastTicker: Ticker;
}

export const AppDepsContext = createContext<AppDeps | undefined>(undefined);
export const SessionContext = createContext<SessionDTO | undefined>(undefined);

export function useAppDeps(): AppDeps {
  return required(useContext(AppDepsContext));
}

export function useSession(): SessionDTO {
  return required(useContext(SessionContext));
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a page was drawn outside the shell");
  return value;
}

export function useLiveStatus(): LiveStatus {
  const { live } = useAppDeps();
  return useSyncExternalStore(live.onStatus, live.status);
}

export interface ReloadableAnswer<T> extends Answer<T> {
  readonly reload: () => void;
}

/** Fetches the path, and fetches it again when the broker reports a change. `policy` is read once. */
export function useAnswer<T>(path: string | null, policy: RefreshPolicy<T> = {}): ReloadableAnswer<T> {
  const deps = useAppDeps();
  const [source] = useState(() => createLiveAnswer<T>(deps, policy));
  const answer = useSyncExternalStore(source.subscribe, source.snapshot);
  useEffect(() => source.load(path), [source, path]);
  useEffect(() => source.stop, [source]);
  return { ...answer, reload: source.reload };
}

/** A text that grows old; drawn again only when it reads differently. */
export function useTickingText(ticker: Ticker, text: () => string): string {
  return useSyncExternalStore(ticker.subscribe, text);
}
