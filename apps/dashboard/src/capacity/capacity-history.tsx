import { type KnownName, resourceTitle } from "@resource-broker/base";
import { type CapacityHistoryDTO, type HistoryWindow, PATH } from "@resource-broker/contract";
import { useMemo } from "react";
import { TimeChart } from "../charts/time-chart.tsx";
import { NAMES } from "../format/amounts.ts";
import { Card } from "../parts/page.tsx";
import { AnswerView } from "../parts/states.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { withQuery } from "../shell/navigation.ts";
import { capacityChart, hasResource } from "./capacity-charts.ts";

/** As often as the finest ring of the broker gets a new point. */
export const REFRESH = { pollMs: 10_000 };

/** Drawn even where nothing is recorded. */
const ALWAYS: readonly KnownName[] = ["cpu", "memory"];

interface CapacityHistoryProps {
  readonly cluster: string;
  readonly window: HistoryWindow;
}

export function CapacityHistory({ cluster, window }: CapacityHistoryProps) {
  const answer = useAnswer<CapacityHistoryDTO>(withQuery(PATH.capacityHistory, { window, cluster }), REFRESH);
  return (
    <AnswerView answer={answer} rows={6}>
      {(history) => (
        <div className="chart-grid">
          {NAMES.filter((name) => ALWAYS.includes(name) || hasResource(history, name)).map((name) => (
            <ResourceHistory key={name} history={history} resource={name} />
          ))}
        </div>
      )}
    </AnswerView>
  );
}

interface ResourceHistoryProps {
  readonly history: CapacityHistoryDTO;
  readonly resource: KnownName;
}

function ResourceHistory({ history, resource }: ResourceHistoryProps) {
  const chart = useMemo(() => capacityChart(history, resource), [history, resource]);
  const title = resourceTitle(resource);
  const span = `last ${history.window}`;
  return (
    <Card title={title} note={span}>
      <TimeChart
        title={`${title} over the ${span}`}
        chart={chart}
        emptyText="Nothing is recorded yet; the first point comes within 10 seconds."
      />
    </Card>
  );
}
