import {
  type AdvertisementPageDTO,
  PATH,
  type PolicyReplyDTO,
  type QuoteDTO,
} from "@resource-broker/contract";
import { useEffect } from "react";
import { decisionView } from "../decisions/decision-view.ts";
import { Ranking } from "../decisions/ranking.tsx";
import { regionOf } from "../fleet/fleet-view.ts";
import { sentence } from "../format/sentence.ts";
import type { Answer, RefreshPolicy } from "../live/live-answer.ts";
import { Chip } from "../parts/chips.tsx";
import { CodeCard } from "../parts/code.tsx";
import { Icon } from "../parts/icons.tsx";
import { Page } from "../parts/page.tsx";
import { Empty, Loading } from "../parts/states.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery, withQuery } from "../shell/navigation.ts";
import { Fields } from "./fields.tsx";
import "./what-if.css";
import {
  askCommand,
  type FormField,
  fieldInAddress,
  type QuoteQuestion,
  quoteRequest,
  readWhatIf,
} from "./what-if-form.ts";

const KNOWN_CLUSTERS = 200;

/** Asked when typing pauses, and again when clusters or reservations changed. */
const QUOTE: RefreshPolicy<QuoteDTO> = {
  ask: (api, question, signal) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- written below
    const { requesterID, weights, request } = JSON.parse(question) as QuoteQuestion;
    return api.post(withQuery(PATH.quotes, { requester: requesterID, weights }), request, signal);
  },
  pauseMs: 120,
  isAffectedBy: () => true,
  minIntervalMs: 2000,
};

export function WhatIfPage() {
  const { query, change } = useQuery();
  const form = readWhatIf(query);
  const request = quoteRequest(form);
  const quote = useAnswer<QuoteDTO>(request === null ? null : JSON.stringify(request), QUOTE);
  const policy = useAnswer<PolicyReplyDTO>(PATH.policy).data?.policy;
  const known = withQuery(PATH.advertisements, { sort: "id", limit: KNOWN_CLUSTERS });
  const clusters = useAnswer<AdvertisementPageDTO>(known).data?.items ?? [];
  const set = (field: FormField, value: string): void =>
    change({ [field]: fieldInAddress(field, value) }, { replace: true });
  // The first cluster is the default requester.
  const first = clusters[0]?.clusterID;
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
          clusters={clusters.map(({ clusterID }) => clusterID)}
          regions={[...new Set(clusters.map(regionOf))].filter((region) => region !== "")}
          policyWeights={policy?.weights ?? {}}
        />
        {request === null ? (
          <div className="answer">
            <Empty title="Enter the requester and the amounts" icon="what-if">
              CPU and memory as Kubernetes writes them: 4 or 500m, 8Gi or 512Mi.
            </Empty>
          </div>
        ) : (
          <Outcome request={request} quote={quote} />
        )}
      </div>
    </Page>
  );
}

interface OutcomeProps {
  readonly request: QuoteQuestion;
  readonly quote: Answer<QuoteDTO>;
}

/** Only the result is announced to screen readers: the ranking changes often. */
function Outcome({ request, quote: { data, failure, isLoading } }: OutcomeProps) {
  return (
    <>
      <div className="what-if-verdict" aria-live="polite">
        {failure !== undefined && (
          <p className="notice is-bad" role="alert">
            <Icon name="warning" /> {sentence(failure.message)}
          </p>
        )}
        {/* A quote for other input is not shown as the result. */}
        {data !== undefined && !isLoading && <Verdict quote={data} />}
      </div>
      <div className={isLoading ? "stack answer is-loading" : "stack answer"}>
        {/* While it is asked, the ranking before stays, dimmed: it would only flicker. */}
        {data !== undefined && <Ranking view={decisionView(data.decision)} />}
        {(data ?? failure) === undefined && <Loading rows={6} />}
        {data !== undefined && !isLoading && <Create request={request} quote={data} />}
      </div>
    </>
  );
}

function Verdict({ quote }: { readonly quote: QuoteDTO }) {
  const { isGranted, headline } = decisionView(quote.decision);
  const tone = isGranted ? "good" : "bad";
  return (
    <p className={`verdict is-${tone}`}>
      <Chip tone={tone}>{isGranted ? "Would be granted" : "Would be refused"}</Chip>
      <strong>{headline}</strong>
    </p>
  );
}

function Create({ request, quote }: { readonly request: QuoteQuestion; readonly quote: QuoteDTO }) {
  // Nobody can ask for other weights in earnest.
  if (!quote.fits || request.weights !== undefined) return null;
  return (
    <CodeCard
      title={`Create this request in ${request.requesterID}`}
      text={askCommand(request)}
      label="The command that creates the ResourceRequest"
    />
  );
}
