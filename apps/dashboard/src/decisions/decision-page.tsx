import type { DecisionDTO } from "@resource-broker/contract";
import { Chip } from "../parts/chips.tsx";
import { CodeCard } from "../parts/code.tsx";
import { Facts } from "../parts/facts.tsx";
import { Link } from "../parts/link.tsx";
import { Card, Page } from "../parts/page.tsx";
import { TimeAgo } from "../parts/relative-time.tsx";
import { AnswerView } from "../parts/states.tsx";
import { hrefTo } from "../routing/route.ts";
import { useAnswer } from "../shell/app-deps.ts";
import { whatIfHref } from "../what-if/what-if-form.ts";
import { decisionView, quantitiesText, requestOptionsText } from "./decision-view.ts";
import { Ranking } from "./ranking.tsx";

export function DecisionPage({ id }: { readonly id: string }) {
  const answer = useAnswer<DecisionDTO>(`/ui/decisions/${encodeURIComponent(id)}`);
  const decision = answer.data;
  const view = decision === undefined ? undefined : decisionView(decision);
  const again = decision === undefined ? null : whatIfHref(decision);
  return (
    <Page
      title={view?.headline ?? "Decision"}
      trail={<Link to="/decisions">Decisions</Link>}
      lead={<span className="mono">{id}</span>}
      actions={
        again !== null && (
          <Link className="button" to={again}>
            Ask again as a what-if
          </Link>
        )
      }
    >
      <AnswerView answer={answer}>{(found) => <Details decision={found} />}</AnswerView>
    </Page>
  );
}

function Details({ decision }: { readonly decision: DecisionDTO }) {
  const view = decisionView(decision);
  return (
    <div className="stack">
      <Card
        title="Asked"
        note={<Chip tone={view.isGranted ? "good" : "bad"}>{view.isGranted ? "Granted" : "Refused"}</Chip>}
      >
        <Facts
          facts={[
            [
              "Requester",
              <Link key="requester" to={hrefTo("fleet", decision.requesterID)}>
                {decision.requesterID}
              </Link>,
            ],
            ["Amounts", quantitiesText(decision.request.requestedResources)],
            ["Options", requestOptionsText(decision).join(" · ")],
            ["When", <TimeAgo key="at" at={decision.at} />],
            ["Policy", decision.policyVersion],
          ]}
        />
      </Card>
      <Ranking view={view} />
      <CodeCard title="In words" text={decision.explanation} label="The decision in words" />
    </div>
  );
}
