import type { UiQuote, UiQuoteRequest } from "@resource-broker/contract/dashboard";
import { useEffect, useRef, useState } from "react";
import { isAborted } from "../net/api-client.ts";
import { shareStructure } from "../net/structural-sharing.ts";
import { useAppDeps } from "../shell/app-deps.ts";

export interface QuoteState {
  readonly quote: UiQuote | undefined;
  /** False: the quote answers an earlier question, and says nothing of this one. */
  readonly isCurrent: boolean;
  readonly problem: string | undefined;
  readonly isLoading: boolean;
}

const PAUSE_IN_TYPING_MS = 120;
/** The shortest time between two quotes while clusters or reservations change. */
const REFRESH_MS = 2000;

/** Asks when typing pauses, and again when clusters or reservations changed. */
export function useQuote(request: UiQuoteRequest | null): QuoteState {
  const { api, live, timers } = useAppDeps();
  const [state, setState] = useState<Answer>(NOTHING);
  const question = request === null ? null : JSON.stringify(request);
  const latest = useRef(request);
  latest.current = request;
  useEffect(() => {
    if (question === null) return undefined;
    const abort = new AbortController();
    let cancel: (() => void) | undefined;
    const put = async (): Promise<void> => {
      cancel = undefined;
      try {
        const quote = await api.post<UiQuote>("/ui/quotes", latest.current, abort.signal);
        setState((before) => ({
          quote: shareStructure(before.quote, quote),
          question,
          problem: undefined,
          isLoading: false,
        }));
      } catch (error) {
        if (isAborted(error) || abort.signal.aborted) return;
        const problem = error instanceof Error ? error.message : String(error);
        setState((before) => ({ ...before, problem, isLoading: false }));
      }
    };
    const plan = (delayMs: number): void => {
      cancel ??= timers.after(delayMs, () => void put());
    };
    setState((before) => ({ ...before, problem: undefined, isLoading: true }));
    plan(PAUSE_IN_TYPING_MS);
    const unsubscribe = live.onUpdate(() => plan(REFRESH_MS));
    return () => {
      unsubscribe();
      cancel?.();
      abort.abort();
    };
  }, [question, api, live, timers]);
  const { question: answered, ...rest } = state;
  return { ...rest, isCurrent: answered === question };
}

interface Answer extends Omit<QuoteState, "isCurrent"> {
  /** What the quote answers. */
  readonly question: string | undefined;
}

const NOTHING: Answer = { quote: undefined, question: undefined, problem: undefined, isLoading: false };
