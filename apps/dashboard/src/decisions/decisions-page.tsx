import { type DecisionPageDTO, type DecisionSummaryDTO, OUTCOMES, PATH } from "@resource-broker/contract";
import { localized } from "../format/sentence.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { Chip } from "../parts/chips.tsx";
import { ClusterLink, Link } from "../parts/link.tsx";
import { ListPage, type ListSpec } from "../parts/list.tsx";
import { TimeAgo } from "../parts/relative-time.tsx";
import { Empty } from "../parts/states.tsx";
import type { Column } from "../parts/table.tsx";
import { hrefTo } from "../shell/navigation.ts";
import { reasonTitle } from "./decision-view.ts";

const TITLES = { all: "All", granted: "Granted", refused: "Refused" } as const;

const DECISIONS: ListSpec = {
  path: PATH.decisions,
  filter: {
    name: "outcome",
    title: "Outcome",
    options: (["all", ...OUTCOMES] as const).map((name) => ({ name, title: TITLES[name] })),
  },
  links: [{ name: "requester", title: "Requester" }],
};

const REFRESH: RefreshPolicy<DecisionPageDTO> = { isAffectedBy: ({ decisions }) => decisions.length > 0 };

const COLUMNS: readonly Column<DecisionSummaryDTO>[] = [
  {
    title: "Decision",
    className: "cell-main",
    cell: ({ id }) => (
      <Link to={hrefTo("decisions", id)} className="row-link mono">
        {id}
      </Link>
    ),
  },
  { title: "Outcome", cell: ({ winner }) => <Outcome isGranted={winner !== undefined} /> },
  { title: "Requester", cell: ({ requesterID }) => <ClusterLink id={requesterID} /> },
  { title: "Asked for", className: "num", cell: ({ asked }) => localized(asked) },
  {
    title: "Winner or reason",
    cell: ({ winner, reason }) =>
      winner === undefined ? reasonTitle(reason ?? "no cluster") : <ClusterLink id={winner} />,
  },
  { title: "Fitted", isNumber: true, cell: ({ fitted, considered }) => `${fitted} of ${considered}` },
  { title: "When", className: "num", cell: ({ at }) => <TimeAgo at={at} /> },
];

export function DecisionsPage() {
  const about = "The newest 1,000 are listed, from the start of the broker on.";
  return (
    <ListPage<DecisionSummaryDTO, DecisionPageDTO>
      spec={DECISIONS}
      refresh={REFRESH}
      title="Decisions"
      lead="Why each request was granted or refused."
      caption="Decisions, the newest first"
      columns={COLUMNS}
      keyOf={({ id }) => id}
      className="is-decisions"
      empty={
        <Empty title="Nothing is decided yet" icon="decisions">
          {about}
        </Empty>
      }
      noMatch={
        <Empty title="No decision matches" icon="decisions">
          {about}
        </Empty>
      }
    />
  );
}

export function Outcome({ isGranted }: { readonly isGranted: boolean }) {
  return <Chip tone={isGranted ? "good" : "bad"}>{isGranted ? "Granted" : "Refused"}</Chip>;
}
