import {
  HISTORY_WINDOWS,
  type HistoryWindow,
  type UiFleet,
  type UiUnmet,
} from "@resource-broker/contract/dashboard";
import { useMemo, useState } from "react";
import { TimeChart } from "../charts/time-chart.tsx";
import { count, percent, plainNumber } from "../format/amounts.ts";
import { FilterChip, RadioGroup, SearchBox } from "../parts/controls.tsx";
import { Link } from "../parts/link.tsx";
import { Card, Page } from "../parts/page.tsx";
import { AnswerView } from "../parts/states.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery } from "../shell/use-query.ts";
import { unmetChart, unmetTotals } from "./capacity-charts.ts";
import { CapacityHistory } from "./capacity-history.tsx";

export const WINDOWS = [
  { name: "hour", title: "Hour" },
  { name: "day", title: "Day" },
  { name: "week", title: "Week" },
] as const;

export function readWindow(query: URLSearchParams): HistoryWindow {
  return HISTORY_WINDOWS.find((window) => window === query.get("window")) ?? "hour";
}

const REFRESH = { pollMs: 10_000 };

export function CapacityPage() {
  const { query, change } = useQuery();
  const window = readWindow(query);
  const cluster = query.get("cluster") ?? "";
  return (
    <Page
      title="Capacity"
      lead={
        cluster === "" ? "What the fleet could lend, and what was reserved, over time." : `Of ${cluster}.`
      }
    >
      <div className="toolbar">
        <RadioGroup
          label="Time"
          value={window}
          options={WINDOWS}
          onChoose={(name) => change({ window: name === "hour" ? null : name })}
        />
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
  const found = useAnswer<UiFleet>(
    q === "" ? null : `/ui/clusters?sort=id&limit=8&q=${encodeURIComponent(q)}`,
  );
  const rows = q === "" ? [] : (found.data?.rows ?? []);
  return (
    <span className="picker">
      <SearchBox label="Find a cluster" value={q} onSearch={setQ} />
      {rows.length > 0 && (
        <ul className="picker-list" aria-label="Clusters found">
          {rows.map(({ id }) => (
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
  const answer = useAnswer<UiUnmet>(`/ui/unmet?window=${window}`, REFRESH);
  return <AnswerView answer={answer}>{(unmet) => <UnmetCard unmet={unmet} />}</AnswerView>;
}

function UnmetCard({ unmet }: { readonly unmet: UiUnmet }) {
  const chart = useMemo(() => unmetChart(unmet), [unmet]);
  const totals = unmetTotals(unmet);
  return (
    <Card
      title="Demand"
      note={
        <span className="num">
          {count(totals.granted, "request")} granted, {plainNumber(totals.refused)} refused
          {totals.share !== null && ` (${percent(totals.share)} unmet)`} ·{" "}
          <Link to="/decisions?outcome=refused">see why</Link>
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
