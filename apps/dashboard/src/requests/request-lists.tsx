import { resourceTitle } from "@resource-broker/base";
import {
  PATH,
  QUEUE_SORTS,
  REFUSED_SORTS,
  type QueuePageDTO,
  type RefusedPageDTO,
  type RefusedRequestDTO,
  type WaitingRequestDTO,
} from "@resource-broker/contract";
import { reasonTitle } from "../decisions/decision-view.ts";
import { amountsOf, amountText, MAIN_NAMES } from "../format/amounts.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { Chip } from "../parts/chips.tsx";
import { ClusterLink, Link } from "../parts/link.tsx";
import { List, type ListSpec } from "../parts/list.tsx";
import { TimeAgo, TimeLeft } from "../parts/relative-time.tsx";
import { Empty } from "../parts/states.tsx";
import { type Column, None } from "../parts/table.tsx";
import { hrefTo } from "../shell/navigation.ts";
import { originText, WAITING_REASONS } from "./request-view.ts";

/** Retries of a refused request change its row without an event. */
const POLL_MS = 15_000;

export const QUEUE_REFRESH: Pick<RefreshPolicy<unknown>, "isAffectedBy" | "minIntervalMs" | "pollMs"> = {
  isAffectedBy: ({ queue, reservations, decisions }) =>
    queue === true || reservations.length + decisions.length > 0,
  minIntervalMs: 1000,
  pollMs: POLL_MS,
};

const ORIGINS: Pick<ListSpec, "links"> = {
  links: [
    { name: "requester", title: "Requester" },
    { name: "tenant", title: "Tenant" },
  ],
};

export const WAITING: ListSpec = {
  ...ORIGINS,
  path: PATH.queue,
  searchLabel: "Find by ID, cluster or tenant",
  sorts: QUEUE_SORTS,
};
export const REFUSED: ListSpec = {
  ...ORIGINS,
  path: PATH.refusedRequests,
  searchLabel: "Find by cluster or tenant",
  sorts: REFUSED_SORTS,
  fallingSort: "last",
};

type Asked = Pick<
  WaitingRequestDTO,
  "requesterID" | "tenant" | "namespace" | "requestedResources" | "priority"
>;

/** The cluster, then the tenant and the namespace where they say more. */
function Origin({ of }: { readonly of: Asked }) {
  const origin = originText(of);
  return (
    <span className="origin clip">
      <ClusterLink id={of.requesterID} />
      {origin !== "" && (
        <span className="faint" title={origin}>
          {" "}
          · {origin}
        </span>
      )}
    </span>
  );
}

const AMOUNTS: readonly Column<Asked>[] = [
  ...MAIN_NAMES.map((name) => ({
    title: resourceTitle(name),
    sort: name,
    isNumber: true,
    cell: ({ requestedResources }: Asked) => {
      const { [name]: amount } = amountsOf(requestedResources);
      return amount === 0 ? <None /> : amountText(name, amount);
    },
  })),
  { title: "Priority", sort: "priority", isNumber: true, cell: ({ priority }) => priority },
];

const WAITING_COLUMNS: readonly Column<WaitingRequestDTO>[] = [
  {
    title: "Position",
    sort: "position",
    isNumber: true,
    className: "strong cell-position",
    cell: ({ queue }) => queue?.position ?? <None />,
  },
  {
    title: "Request",
    sort: "requester",
    isHead: true,
    className: "cell-main",
    cell: (request) => (
      <>
        <Link to={hrefTo("requests", request.id)} className="row-link mono" title={request.id}>
          {request.id}
        </Link>
        <Origin of={request} />
      </>
    ),
  },
  ...AMOUNTS,
  {
    title: "Reason",
    className: "cell-reason",
    cell: (request) => <WaitingReason request={request} />,
  },
  { title: "Asked", sort: "created", className: "num", cell: ({ createdAt }) => <TimeAgo at={createdAt} /> },
  { title: "Not before", className: "num", cell: (request) => <NotBefore request={request} /> },
  {
    title: "Time left",
    sort: "until",
    className: "num",
    cell: ({ until }) => <TimeLeft until={until} />,
  },
];

export function WaitingReason({ request: { queue } }: { readonly request: WaitingRequestDTO }) {
  if (queue === undefined) return <None />;
  const { title, text, ...look } = WAITING_REASONS[queue.reason];
  return (
    <span className="chips">
      <Chip {...look} title={text}>
        {title}
      </Chip>
      {queue.nominatedTo !== undefined && (
        <span className="note">
          kept on <ClusterLink id={queue.nominatedTo} />
        </span>
      )}
    </span>
  );
}

/** By the ends that reservations have now: it may be later. */
export function NotBefore({ request: { queue } }: { readonly request: WaitingRequestDTO }) {
  const start = queue?.expectedStart;
  return start === undefined ? <None>not known</None> : <TimeLeft until={start} before="in " over="now" />;
}

const REFUSED_COLUMNS: readonly Column<RefusedRequestDTO>[] = [
  {
    title: "Requester",
    sort: "requester",
    className: "cell-main",
    cell: (request) => <Origin of={request} />,
  },
  ...AMOUNTS,
  {
    title: "Reason",
    className: "cell-reason",
    cell: ({ reason, decisionID }) => (
      <Link to={hrefTo("decisions", decisionID)} className="row-link">
        {reasonTitle(reason)}
      </Link>
    ),
  },
  { title: "Attempts", sort: "attempts", isNumber: true, cell: ({ attempts }) => attempts },
  {
    title: "First refused",
    sort: "first",
    className: "num",
    cell: ({ firstAt }) => <TimeAgo at={firstAt} />,
  },
  { title: "Last refused", sort: "last", className: "num", cell: ({ lastAt }) => <TimeAgo at={lastAt} /> },
];

const NO_MATCH = (
  <Empty title="No request matches" icon="search">
    Try fewer letters, or remove a filter.
  </Empty>
);

export function WaitingList() {
  return (
    <List<WaitingRequestDTO, QueuePageDTO>
      spec={WAITING}
      refresh={QUEUE_REFRESH}
      caption="Waiting requests"
      columns={WAITING_COLUMNS}
      keyOf={({ id }) => id}
      className="is-waiting"
      empty={
        <Empty title="Nobody waits" icon="check">
          A request with <code>queue: true</code> waits here when no cluster has room for it.
        </Empty>
      }
      noMatch={NO_MATCH}
    />
  );
}

export function RefusedList() {
  return (
    <List<RefusedRequestDTO, RefusedPageDTO>
      spec={REFUSED}
      refresh={QUEUE_REFRESH}
      caption="Refused requests, the last refused first"
      columns={REFUSED_COLUMNS}
      keyOf={({ id }) => id}
      className="is-refused-requests"
      empty={
        <Empty title="Nothing is refused" icon="check">
          Requests that do not fit and do not wait are listed here for a day.
        </Empty>
      }
      noMatch={NO_MATCH}
    />
  );
}
