import { type DecisionDTO, PATH } from "@resource-broker/contract";
import { quantitiesText } from "../format/amounts.ts";
import { CodeCard } from "../parts/code.tsx";
import { Link } from "../parts/link.tsx";
import { Card, Facts, Page } from "../parts/page.tsx";
import { TimeAgo } from "../parts/relative-time.tsx";
import { AnswerView } from "../parts/states.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { hrefTo } from "../shell/navigation.ts";
import { whatIfHref } from "../what-if/what-if-form.ts";
import { decisionView, requestOptionsText } from "./decision-view.ts";
import { Outcome } from "./decisions-page.tsx";
import { Ranking } from "./ranking.tsx";

export function DecisionPage({ id }: { readonly id: string }) {
  const answer = useAnswer<DecisionDTO>(PATH.decision(id));
  const decision = answer.data;
  const again = decision === undefined ? null : whatIfHref(decision);
  return (
    <Page
      title={decision === undefined ? "Decision" : decisionView(decision).headline}
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
  const { requesterID, request, at, policyVersion, explanation } = decision;
  const view = decisionView(decision);
  const requester = <Link to={hrefTo("fleet", requesterID)}>{requesterID}</Link>;
  return (
    <div className="stack">
      <Card title="Asked" note={<Outcome isGranted={view.isGranted} />}>
        <Facts
          facts={[
            ["Requester", requester],
            ["Amounts", quantitiesText(request.requestedResources)],
            ["Options", requestOptionsText(decision).join(" · ")],
            ["When", <TimeAgo key="at" at={at} />],
            ["Policy", policyVersion],
          ]}
        />
      </Card>
      <Ranking view={view} />
      <CodeCard title="In words" text={explanation} label="The decision in words" />
    </div>
  );
}
