import type { UiFleet, UiQuoteRequest } from "@resource-broker/contract/dashboard";
import { useEffect } from "react";
import { type DecisionView, decisionView } from "../decisions/decision-view.ts";
import { Ranking } from "../decisions/ranking.tsx";
import { sentence } from "../format/sentence.ts";
import { Chip } from "../parts/chips.tsx";
import { CodeCard } from "../parts/code.tsx";
import { Icon } from "../parts/icons.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery } from "../shell/use-query.ts";
import { Fields } from "./fields.tsx";
import { type QuoteState, useQuote } from "./use-quote.ts";
import "./what-if.css";
import { askCommand, type FormField, fieldInAddress, quoteRequest, readWhatIf } from "./what-if-form.ts";

const KNOWN_CLUSTERS = 200;

export function WhatIfPage() {
  const { query, change } = useQuery();
  const form = readWhatIf(query);
  const request = quoteRequest(form);
  const state = useQuote(request);
  const clusters = useAnswer<UiFleet>(`/ui/clusters?sort=id&limit=${KNOWN_CLUSTERS}`).data?.rows ?? [];
  const set = (field: FormField, value: string): void =>
    change({ [field]: fieldInAddress(field, value) }, { replace: true });
  // The first cluster is the default requester.
  const first = clusters[0]?.id;
  useEffect(() => {
    if (!query.has("requester") && first !== undefined) change({ requester: first }, { replace: true });
  }, [query, first, change]);
  return (
    <Page
      title="What if"
      lead="What would the broker decide now? The same code answers as for a reservation; nothing is written."
    >
      <div className="what-if">
        <Fields
          form={form}
          set={set}
          clusters={clusters.map(({ id }) => id)}
          regions={[...new Set(clusters.map(({ region }) => region))].filter((region) => region !== "")}
          policyWeights={state.quote?.policyWeights ?? {}}
        />
        <Outcome request={request} state={state} />
      </div>
    </Page>
  );
}

interface OutcomeProps {
  /** Null: not enough is said yet. */
  readonly request: UiQuoteRequest | null;
  readonly state: QuoteState;
}

/** Only the result is announced to screen readers: the ranking changes often. */
function Outcome({ request, state }: OutcomeProps) {
  const { quote, isCurrent, problem, isLoading } = state;
  // A quote for other input is not shown as the result.
  const view = quote === undefined || !isCurrent ? undefined : decisionView(quote.decision);
  return (
    <>
      <div className="what-if-verdict" aria-live="polite">
        {problem !== undefined && (
          <p className="notice is-bad" role="alert">
            <Icon name="warning" /> {sentence(problem)}
          </p>
        )}
        {view !== undefined && <Verdict view={view} />}
      </div>
      <div className={isLoading ? "stack answer is-loading" : "stack answer"}>
        {request === null ? (
          <Empty title="Enter the requester and the amounts" icon="what-if">
            CPU and memory as Kubernetes writes them: 4 or 500m, 8Gi or 512Mi.
          </Empty>
        ) : (
          <Ranked request={request} state={state} />
        )}
      </div>
    </>
  );
}

function Verdict({ view }: { readonly view: DecisionView }) {
  return (
    <p className={view.isGranted ? "verdict is-good" : "verdict is-bad"}>
      <Chip tone={view.isGranted ? "good" : "bad"}>
        {view.isGranted ? "Would be granted" : "Would be refused"}
      </Chip>
      <strong>{view.headline}</strong>
    </p>
  );
}

function Ranked({ request, state }: { readonly request: UiQuoteRequest; readonly state: QuoteState }) {
  const { quote, isCurrent, problem } = state;
  // While it is asked, the ranking before stays, dimmed: it would only flicker.
  if (quote === undefined || (problem !== undefined && !isCurrent))
    return problem === undefined ? <Loading rows={6} /> : null;
  return (
    <>
      <Ranking view={decisionView(quote.decision)} />
      {isCurrent && quote.fits && request.weights === undefined && (
        <CodeCard
          title={`Create this request in ${request.requesterID}`}
          text={askCommand(request)}
          label="The command that creates the ResourceRequest"
        />
      )}
    </>
  );
}
