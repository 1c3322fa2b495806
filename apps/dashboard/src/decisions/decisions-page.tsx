import type { UiDecisionRow, UiDecisions } from "@resource-broker/contract/dashboard";
import { memo } from "react";
import { localized } from "../format/sentence.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { withQuery } from "../net/query.ts";
import { Chip } from "../parts/chips.tsx";
import { FilterChip, RadioGroup } from "../parts/controls.tsx";
import { ClusterLink, Link } from "../parts/link.tsx";
import { Page } from "../parts/page.tsx";
import { TimeAgo } from "../parts/relative-time.tsx";
import { AnswerView, Empty } from "../parts/states.tsx";
import { Pager, Table } from "../parts/table.tsx";
import { hrefTo, readOffset } from "../routing/route.ts";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery } from "../shell/use-query.ts";
import { reasonTitle } from "./decision-view.ts";

const PAGE_SIZE = 50;

const REFRESH: RefreshPolicy<UiDecisions> = { isAffectedBy: ({ decisions }) => decisions.length > 0 };

const OUTCOMES = [
  { name: "all", title: "All" },
  { name: "granted", title: "Granted" },
  { name: "refused", title: "Refused" },
] as const;

const COLUMNS = [
  { title: "Decision" },
  { title: "Outcome" },
  { title: "Requester" },
  { title: "Asked for" },
  { title: "Winner or reason" },
  { title: "Fitted", isNumber: true },
  { title: "When" },
];

export function DecisionsPage() {
  const { query, change } = useQuery();
  const outcome = OUTCOMES.find(({ name }) => name === query.get("outcome"))?.name ?? "all";
  const requester = query.get("requester") ?? "";
  const offset = readOffset(query);
  const path = withQuery("/ui/decisions", {
    outcome: outcome === "all" ? null : outcome,
    requester,
    offset: offset === 0 ? null : offset,
    limit: PAGE_SIZE,
  });
  const answer = useAnswer<UiDecisions>(path, REFRESH);
  return (
    <Page title="Decisions" lead="Why each request was granted or refused.">
      <div className="toolbar">
        <RadioGroup
          label="Outcome"
          value={outcome}
          options={OUTCOMES}
          onChoose={(name) => change({ outcome: name === "all" ? null : name, offset: null })}
        />
        {requester !== "" && (
          <FilterChip
            label="Requester"
            value={requester}
            onClear={() => change({ requester: null, offset: null })}
          />
        )}
      </div>
      <AnswerView answer={answer} rows={12}>
        {(page) =>
          page.total === 0 ? (
            <Empty
              title={outcome === "all" && requester === "" ? "Nothing is decided yet" : "No decision matches"}
              icon="decisions"
            >
              The newest 1,000 are listed, from the start of the broker on.
            </Empty>
          ) : (
            <>
              <Table caption="Decisions, the newest first" columns={COLUMNS} className="is-decisions">
                {page.rows.map((row) => (
                  <DecisionRow key={row.id} row={row} />
                ))}
              </Table>
              <Pager
                offset={page.offset}
                shown={page.rows.length}
                total={page.total}
                limit={PAGE_SIZE}
                onMove={(next) => change({ offset: next === 0 ? null : next })}
              />
            </>
          )
        }
      </AnswerView>
    </Page>
  );
}

const DecisionRow = memo(function DecisionRow({ row }: { readonly row: UiDecisionRow }) {
  const isGranted = row.winner !== null;
  return (
    <tr>
      <th scope="row" className="cell-main">
        <Link to={hrefTo("decisions", row.id)} className="row-link mono">
          {row.id}
        </Link>
      </th>
      <td data-label="Outcome">
        <Chip tone={isGranted ? "good" : "bad"}>{isGranted ? "Granted" : "Refused"}</Chip>
      </td>
      <td data-label="Requester">
        <ClusterLink id={row.requester} />
      </td>
      <td data-label="Asked for" className="num">
        {localized(row.asked)}
      </td>
      <td data-label="Winner or reason">
        {row.winner === null ? (
          <span>{row.reason === null ? "no cluster" : reasonTitle(row.reason)}</span>
        ) : (
          <ClusterLink id={row.winner} />
        )}
      </td>
      <td data-label="Fitted" className="num is-number">
        {row.fitted} of {row.considered}
      </td>
      <td data-label="When" className="num">
        <TimeAgo at={row.at} />
      </td>
    </tr>
  );
});
