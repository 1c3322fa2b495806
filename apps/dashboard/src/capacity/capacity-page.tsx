import {
  HISTORY_WINDOWS,
  type HistoryWindow,
  type AdvertisementPageDTO,
  type DemandHistoryDTO,
  PATH,
} from "@resource-broker/contract";
import { useMemo, useState } from "react";
import { TimeChart } from "../charts/time-chart.tsx";
import { count, percent, plainNumber } from "../format/amounts.ts";
import { FilterChip, RadioGroup, SearchBox } from "../parts/controls.tsx";
import { Link } from "../parts/link.tsx";
import { Card, Page } from "../parts/page.tsx";
import { AnswerView } from "../parts/states.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery, withQuery } from "../shell/navigation.ts";
import { unmetChart, unmetTotals } from "./capacity-charts.ts";
import { CapacityHistory, REFRESH } from "./capacity-history.tsx";

const TITLES: Readonly<Record<HistoryWindow, string>> = { hour: "Hour", day: "Day", week: "Week" };

export function readWindow(query: URLSearchParams): HistoryWindow {
  return HISTORY_WINDOWS.find((window) => window === query.get("window")) ?? "hour";
}

export function WindowPicker() {
  const { query, change } = useQuery();
  return (
    <RadioGroup
      label="Time"
      value={readWindow(query)}
      options={HISTORY_WINDOWS.map((name) => ({ name, title: TITLES[name] }))}
      onChoose={(name) => change({ window: name === "hour" ? null : name })}
    />
  );
}

const LEAD = "What the fleet could lend, and what was reserved, over time.";

export function CapacityPage() {
  const { query, change } = useQuery();
  const window = readWindow(query);
  const cluster = query.get("cluster") ?? "";
  return (
    <Page title="Capacity" lead={cluster === "" ? LEAD : `Of ${cluster}.`}>
      <div className="toolbar">
        <WindowPicker />
        <ClusterPicker value={cluster} onPick={(id) => change({ cluster: id })} />
        {cluster !== "" && (
          <FilterChip label="Cluster" value={cluster} onClear={() => change({ cluster: null })} />
        )}
      </div>
      <div className="stack">
        <CapacityHistory key={`${cluster}/${window}`} cluster={cluster} window={window} />
        <Unmet key={window} window={window} />
      </div>
    </Page>
  );
}

/** Letters find clusters; a whole ID chooses one. */
function ClusterPicker({ value, onPick }: { readonly value: string; readonly onPick: (id: string) => void }) {
  const [q, setQ] = useState("");
  const found = useAnswer<AdvertisementPageDTO>(
    q === "" ? null : withQuery(PATH.advertisements, { sort: "id", limit: 8, q }),
  );
  const rows = q === "" ? [] : (found.data?.items ?? []);
  return (
    <span className="picker">
      <SearchBox label="Find a cluster" value={q} onSearch={setQ} />
      {rows.length > 0 && (
        <ul className="picker-list" aria-label="Clusters found">
          {rows.map(({ clusterID: id }) => (
            <li key={id}>
              <button
                type="button"
                aria-pressed={id === value}
                onClick={() => {
                  setQ("");
                  onPick(id);
                }}
              >
                {id}
              </button>
            </li>
          ))}
        </ul>
      )}
    </span>
  );
}

function Unmet({ window }: { readonly window: HistoryWindow }) {
  const answer = useAnswer<DemandHistoryDTO>(withQuery(PATH.demandHistory, { window }), REFRESH);
  return <AnswerView answer={answer}>{(unmet) => <UnmetCard unmet={unmet} />}</AnswerView>;
}

function UnmetCard({ unmet }: { readonly unmet: DemandHistoryDTO }) {
  const chart = useMemo(() => unmetChart(unmet), [unmet]);
  const totals = unmetTotals(unmet);
  return (
    <Card
      title="Demand"
      note={
        <span className="num">
          {count(totals.granted, "request")} granted, {plainNumber(totals.refused)} refused
          {totals.share !== null && ` (${percent(totals.share)} unmet)`} ·{" "}
          <Link to="/decisions?outcome=refused">see why</Link> ·{" "}
          <Link to="/requests">what is asked for now</Link>
        </span>
      }
    >
      <TimeChart
        title="Requests granted and refused over time"
        chart={chart}
        emptyText="No requests in this period."
      />
    </Card>
  );
}
