import type { HistoryWindow, UiHistory } from "@resource-broker/contract/dashboard";
import { useMemo } from "react";
import { TimeChart } from "../charts/time-chart.tsx";
import { RESOURCE_TITLES, RESOURCES } from "../format/amounts.ts";
import { withQuery } from "../net/query.ts";
import { Card } from "../parts/page.tsx";
import { AnswerView } from "../parts/states.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { capacityChart, hasResource } from "./capacity-charts.ts";

/** As often as the finest ring of the broker gets a new point. */
const REFRESH = { pollMs: 10_000 };

const SPANS: Readonly<Record<HistoryWindow, string>> = {
  hour: "last hour",
  day: "last day",
  week: "last week",
};

export function CapacityHistory({
  cluster,
  window,
}: {
  readonly cluster: string;
  readonly window: HistoryWindow;
}) {
  const answer = useAnswer<UiHistory>(withQuery("/ui/history", { window, cluster }), REFRESH);
  return (
    <AnswerView answer={answer} rows={6}>
      {(history) => (
        <div className="chart-grid">
          {RESOURCES.filter((resource) => resource !== "gpu" || hasResource(history, resource)).map(
            (resource) => (
              <ResourceHistory key={resource} history={history} resource={resource} />
            ),
          )}
        </div>
      )}
    </AnswerView>
  );
}

function ResourceHistory({
  history,
  resource,
}: {
  readonly history: UiHistory;
  readonly resource: (typeof RESOURCES)[number];
}) {
  const chart = useMemo(() => capacityChart(history, resource), [history, resource]);
  const title = RESOURCE_TITLES[resource];
  return (
    <Card title={title} note={SPANS[history.window]}>
      <TimeChart
        title={`${title} over the ${SPANS[history.window]}`}
        chart={chart}
        emptyText="Nothing is recorded yet; the first point comes within 10 seconds."
      />
    </Card>
  );
}
