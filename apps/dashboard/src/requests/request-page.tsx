import {
  type DecisionDTO,
  PATH,
  type ReservationDTO,
  type WaitingRequestDTO,
} from "@resource-broker/contract";
import { decisionView } from "../decisions/decision-view.ts";
import { Ranking } from "../decisions/ranking.tsx";
import { percent, quantitiesText } from "../format/amounts.ts";
import { localized } from "../format/sentence.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { Chip } from "../parts/chips.tsx";
import { CodeCard } from "../parts/code.tsx";
import { Action } from "../parts/confirm.tsx";
import { ClusterLink, Link } from "../parts/link.tsx";
import { Card, Facts, Page } from "../parts/page.tsx";
import { Countdown, TimeAgo } from "../parts/relative-time.tsx";
import { AnswerView, Empty } from "../parts/states.tsx";
import { PHASES, reasonText } from "../reservations/reservation-view.ts";
import { useAnswer } from "../shell/app-deps.ts";
import { hrefTo, withQuery } from "../shell/navigation.ts";
import { NotBefore, QUEUE_REFRESH, WaitingReason } from "./request-lists.tsx";
import { WAITING_REASONS } from "./request-view.ts";

/** Once it is granted, a reservation has its ID. */
type Found = WaitingRequestDTO | ReservationDTO;

function isGranted(found: Found): found is ReservationDTO {
  return "targetClusterID" in found;
}

/** A request that waits, or has waited. */
export function RequestPage({ id }: { readonly id: string }) {
  const policy: RefreshPolicy<Found> = {
    ...QUEUE_REFRESH,
    isAffectedBy: ({ queue, reservations }) => queue === true || reservations.length > 0,
  };
  const answer = useAnswer<Found>(PATH.reservation(id), policy);
  const found = answer.data;
  const isWaiting = found !== undefined && !isGranted(found) && found.endedAt === undefined;
  return (
    <Page
      title={id}
      trail={<Link to="/requests">Requests</Link>}
      lead={found === undefined ? "Request" : localized(found.status.message)}
      actions={isWaiting && <RemoveAction request={found} onDone={answer.reload} />}
    >
      <AnswerView answer={answer}>
        {(data) => (isGranted(data) ? <Granted reservation={data} /> : <Details request={data} />)}
      </AnswerView>
    </Page>
  );
}

interface RemoveProps {
  readonly request: WaitingRequestDTO;
  readonly onDone: () => void;
}

function RemoveAction({ request: { id, requesterID }, onDone }: RemoveProps) {
  return (
    <Action
      verb="Remove from the queue"
      title="Remove this request from the queue?"
      perform={(api) => api.remove(PATH.reservation(id))}
      doneText={`${id} no longer waits.`}
      isDangerous
      onDone={onDone}
    >
      <p>
        <strong>{requesterID}</strong> gets nothing for this request, and it loses its place. This cannot be
        undone. {requesterID} may request again.
      </p>
    </Action>
  );
}

function Granted({ reservation: { id, targetClusterID } }: { readonly reservation: ReservationDTO }) {
  return (
    <Empty title="This request does not wait" icon="check">
      <Link to={hrefTo("reservations", id)}>Its reservation</Link> is on <ClusterLink id={targetClusterID} />.
    </Empty>
  );
}

function Details({ request }: { readonly request: WaitingRequestDTO }) {
  const isWaiting = request.endedAt === undefined;
  return (
    <div className="stack">
      <div className="columns is-even">
        <Card title={isWaiting ? "In the queue" : "Left the queue"} note={<Phase request={request} />}>
          {isWaiting ? <Place request={request} /> : <Ending request={request} />}
        </Card>
        <Card title="Asked">
          <Asked request={request} />
        </Card>
      </div>
      {isWaiting && <InTheWay id={request.id} />}
    </div>
  );
}

function Phase({ request: { status } }: { readonly request: WaitingRequestDTO }) {
  return <Chip {...PHASES[status.phase]}>{status.phase}</Chip>;
}

function Place({ request }: { readonly request: WaitingRequestDTO }) {
  const { queue, until } = request;
  return (
    <Facts
      facts={[
        ["Position", queue === undefined ? "" : `${queue.position} of ${queue.of}`],
        ["Reason", <WaitingReason key="reason" request={request} />],
        ["In words", queue === undefined ? "" : WAITING_REASONS[queue.reason].text],
        ["Not before", <NotBefore key="start" request={request} />],
        ["Time left", <Countdown key="until" until={until} />],
        ["Share of its tenant", queue === undefined ? "" : percent(queue.share)],
      ]}
    />
  );
}

function Ending({ request: { endedAt = "", reason } }: { readonly request: WaitingRequestDTO }) {
  return (
    <Facts
      facts={[
        ["Ended", <TimeAgo key="ended" at={endedAt} />],
        ["Reason", reasonText(reason)],
      ]}
    />
  );
}

function Asked({ request }: { readonly request: WaitingRequestDTO }) {
  const { requesterID, namespace = "", tenant, requestedResources, tier, priority, createdAt } = request;
  return (
    <Facts
      facts={[
        ["Requester", <ClusterLink key="requester" id={requesterID} />],
        ["Namespace", namespace],
        [
          "Tenant",
          <Link key="tenant" to={withQuery("/requests", { tenant })}>
            {tenant}
          </Link>,
        ],
        ["Amounts", quantitiesText(requestedResources)],
        ["Tier", tier],
        ["Priority", String(priority)],
        ["Asked", <TimeAgo key="asked" at={createdAt} />],
      ]}
    />
  );
}

/** The decision that would be made now: what is in the way at each provider. */
function InTheWay({ id }: { readonly id: string }) {
  const answer = useAnswer<DecisionDTO>(PATH.queueExplanation(id), QUEUE_REFRESH);
  return (
    <AnswerView answer={answer}>
      {(decision) => (
        <div className="stack">
          <Ranking view={decisionView(decision)} />
          <CodeCard title="In words" text={decision.explanation} label="What is in the way, in words" />
        </div>
      )}
    </AnswerView>
  );
}
