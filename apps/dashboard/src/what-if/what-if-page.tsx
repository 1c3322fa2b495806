import type { UiFleet, UiQuote, UiQuoteRequest } from "@resource-broker/contract";
import { useEffect } from "react";
import { decisionView } from "../decisions/decision-view.ts";
import { Ranking } from "../decisions/ranking.tsx";
import { Chip } from "../parts/chips.tsx";
import { CopyButton } from "../parts/copy.tsx";
import { Icon } from "../parts/icons.tsx";
import { Card, Page } from "../parts/page.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { useAnswer } from "../shell/session-context.ts";
import { useQuery } from "../shell/use-query.ts";
import { Fields } from "./fields.tsx";
import { useQuote } from "./use-quote.ts";
import { type FormField, manifestOf, quoteRequest, readWhatIf } from "./what-if-form.ts";

const KNOWN_CLUSTERS = 200;

export function WhatIfPage() {
  const { query, change } = useQuery();
  const form = readWhatIf(query);
  const request = quoteRequest(form);
  const { quote, problem, isLoading } = useQuote(request);
  const clusters = useAnswer<UiFleet>(`/ui/clusters?sort=id&limit=${KNOWN_CLUSTERS}`).data?.rows ?? [];
  const set = (field: FormField, value: string): void => change({ [field]: value }, { replace: true });
  // Somebody has to ask: the first cluster, until another is chosen.
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
          policyWeights={quote?.policyWeights ?? {}}
        />
        <div className={isLoading ? "stack answer is-loading" : "stack answer"} aria-live="polite">
          {problem !== undefined && (
            <p className="notice is-bad" role="alert">
              <Icon name="warning" /> {problem}
            </p>
          )}
          <Outcome request={request} quote={quote} hasProblem={problem !== undefined} />
        </div>
      </div>
    </Page>
  );
}

interface OutcomeProps {
  /** Null: not enough is said yet. */
  readonly request: UiQuoteRequest | null;
  readonly quote: UiQuote | undefined;
  readonly hasProblem: boolean;
}

function Outcome({ request, quote, hasProblem }: OutcomeProps) {
  if (request === null) {
    return (
      <Empty title="Say who asks, and for how much" icon="what-if">
        CPU and memory as Kubernetes writes them: 4 or 500m, 8Gi or 512Mi.
      </Empty>
    );
  }
  if (quote === undefined) return hasProblem ? null : <Loading rows={6} />;
  const view = decisionView(quote.decision);
  return (
    <>
      <p className={view.isGranted ? "verdict is-good" : "verdict is-bad"}>
        <Chip tone={view.isGranted ? "good" : "bad"}>
          {view.isGranted ? "Would be granted" : "Would be refused"}
        </Chip>
        <strong>{view.headline}</strong>
      </p>
      <Ranking view={view} />
      {quote.fits && request.weights === undefined && (
        <Manifest text={manifestOf(request)} requester={request.requesterID} />
      )}
    </>
  );
}

function Manifest({ text, requester }: { readonly text: string; readonly requester: string }) {
  return (
    <Card
      title={`Ask for it in earnest, in ${requester}: kubectl create -f -`}
      note={<CopyButton text={text} what="the ResourceRequest" />}
    >
      <pre className="yaml" tabIndex={0} aria-label="The ResourceRequest as YAML">
        {text}
      </pre>
    </Card>
  );
}
