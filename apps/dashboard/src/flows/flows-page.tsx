import { type KnownName, resourceTitle } from "@resource-broker/base";
import { type FlowsDTO, PATH } from "@resource-broker/contract";
import { useMemo } from "react";
import { amountText, count, MAIN_NAMES, NAMES, plainNumber } from "../format/amounts.ts";
import type { RefreshPolicy } from "../live/live-answer.ts";
import { FilterChip, RadioGroup } from "../parts/controls.tsx";
import { ClusterPair, Link } from "../parts/link.tsx";
import { Card, Page } from "../parts/page.tsx";
import { AnswerView, Empty } from "../parts/states.tsx";
import { Table } from "../parts/table.tsx";
import { useAnswer } from "../shell/app-deps.ts";
import { useQuery, withQuery } from "../shell/navigation.ts";
import "../reservations/reservations.css";
import { FlowDiagram } from "./flow-diagram.tsx";
import type { Flow } from "./flow-layout.ts";

const REFRESH: RefreshPolicy<FlowsDTO> = {
  isAffectedBy: ({ reservations }) => reservations.length > 0,
  minIntervalMs: 1000,
};

const SIZES = [
  { name: "few", title: "Biggest 20" },
  { name: "all", title: "All" },
] as const;
const FEW = 20;
const TABLE_ROWS = 100;

export function FlowsPage() {
  const { query, change } = useQuery();
  const resource = NAMES.find((each) => each === query.get("resource")) ?? "cpu";
  const only = query.get("cluster");
  const isAll = query.get("show") === "all";
  const answer = useAnswer<FlowsDTO>(withQuery(PATH.flows, { resource }), REFRESH);
  // Others only where some of them is lent.
  const isLent = (name: KnownName): boolean =>
    name === resource || (answer.data?.flows ?? []).some(({ amounts }) => (amounts[name] ?? 0) > 0);
  return (
    <Page
      title="Flows"
      lead="Who lends to whom now. Providers on the left, requesters on the right; a wider band is a larger amount."
    >
      <div className="toolbar">
        <RadioGroup
          label="Resource"
          value={resource}
          options={NAMES.filter((name) => MAIN_NAMES.includes(name) || isLent(name)).map((name) => ({
            name,
            title: resourceTitle(name),
          }))}
          onChoose={(name) => change({ resource: name === "cpu" ? null : name })}
        />
        <RadioGroup
          label="How many"
          value={isAll ? "all" : "few"}
          options={SIZES}
          onChoose={(name) => change({ show: name === "all" ? "all" : null })}
        />
        {only !== null && (
          <FilterChip label="Cluster" value={only} onClear={() => change({ cluster: null })} />
        )}
      </div>
      <AnswerView answer={answer}>
        {(found) => (
          <Flows
            {...{ found, resource, only }}
            most={isAll ? Number.POSITIVE_INFINITY : FEW}
            onChoose={(cluster) => change({ cluster })}
          />
        )}
      </AnswerView>
    </Page>
  );
}

interface FlowsProps {
  readonly found: FlowsDTO;
  readonly resource: KnownName;
  readonly most: number;
  /** Only what touches this cluster. */
  readonly only: string | null;
  readonly onChoose: (cluster: string) => void;
}

function Flows({ found, resource, most, only, onChoose }: FlowsProps) {
  const flows = useMemo(
    () =>
      found.flows
        .map(({ amounts, ...flow }) => ({ ...flow, value: amounts[resource] ?? 0 }))
        .filter(
          (flow) => flow.value > 0 && (only === null || [flow.provider, flow.requester].includes(only)),
        ),
    [found, resource, only],
  );
  const title = resourceTitle(resource);
  if (flows.length === 0) {
    return (
      <Empty title={`No ${title} is lent now`} icon="flows">
        As soon as a reservation is granted, it appears here as a band from the provider to the requester.
      </Empty>
    );
  }
  const left = found.left > 0 ? `, ${plainNumber(found.left)} smaller ones not shown` : "";
  return (
    <div className="stack">
      <Card title={title} note={`${count(flows.length, "pair")} of clusters${left}`}>
        <FlowDiagram {...{ flows, resource, most, onChoose }} />
      </Card>
      <FlowTable flows={flows.slice(0, TABLE_ROWS)} resource={resource} />
    </div>
  );
}

interface FlowTableProps {
  readonly flows: readonly Flow[];
  readonly resource: KnownName;
}

/** The same in words: for the keyboard, for readers of a screen, and to click through. */
function FlowTable({ flows, resource }: FlowTableProps) {
  return (
    <Card title="The biggest, one by one">
      <Table
        caption="Who lends to whom"
        className="is-flows"
        rows={flows}
        keyOf={({ provider, requester }) => `${provider} ${requester}`}
        columns={[
          {
            title: "Provider → requester",
            className: "cell-parties cell-main",
            cell: ({ provider, requester }) => <ClusterPair from={provider} to={requester} />,
          },
          { title: "Lent", isNumber: true, cell: ({ value }) => amountText(resource, value) },
          {
            title: "Reservations",
            isNumber: true,
            cell: ({ provider, requester, reservations }) => (
              <Link to={withQuery("/reservations", { provider, requester, phase: "live" })}>
                {count(reservations, "reservation")}
              </Link>
            ),
          },
        ]}
      />
    </Card>
  );
}
